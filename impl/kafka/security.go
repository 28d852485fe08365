package kafka

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// A Security says how clients connect and who they are. No error and no history
// repeats a password or a key.
type Security struct {
	TLS        bool
	CA         string // PEM file of whom to trust, "" for whom the system trusts
	Cert, Key  string // PEM files of the client's certificate, if brokers ask for one
	AnyHost    bool   // a broker's certificate may be for another host
	Mechanism  string // "" for none, or one of Mechanisms
	User       string
	Password   string
	caText     string // PEM texts in place of files
	certText   string
	keyText    string
	properties string // the file they are from, "" if there is none
}

// Mechanisms are what SASL can be done by.
var Mechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}

// With returns what more says, and for all that it does not say, what s says.
func (s Security) With(more Security) Security {
	out := s
	out.TLS, out.AnyHost = s.TLS || more.TLS, s.AnyHost || more.AnyHost
	out.Mechanism, out.User, out.Password = cmp.Or(more.Mechanism, s.Mechanism), cmp.Or(more.User, s.User), cmp.Or(more.Password, s.Password)
	out.CA, out.Cert, out.Key = cmp.Or(more.CA, s.CA), cmp.Or(more.Cert, s.Cert), cmp.Or(more.Key, s.Key)
	return out
}

// Apply reads the files and sets the configuration's TLS and SASL.
func (s Security) Apply(c *Config) error {
	if err := s.applySASL(c); err != nil {
		return err
	}
	if !s.TLS {
		if s.CA+s.Cert+s.Key+s.caText+s.certText+s.keyText != "" {
			return fmt.Errorf("%w: certificates need TLS", ErrConfig)
		}
		return nil
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	ca, err := text(s.CA, s.caText)
	if err != nil {
		return err
	}
	if ca != nil {
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(ca) {
			return fmt.Errorf("%s: certificates to trust: %w", cmp.Or(s.CA, s.properties), errPEM)
		}
	}
	cert, err := text(s.Cert, s.certText)
	if err != nil {
		return err
	}
	key, err := text(s.Key, s.keyText)
	if err != nil {
		return err
	}
	if cert != nil || key != nil {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return fmt.Errorf("%s: expected a certificate and its key, unencrypted, in PEM: %w", cmp.Or(s.Cert, s.Key, s.properties), err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	if s.AnyHost {
		anyHost(conf)
	}
	c.TLS = conf
	return nil
}

func (s Security) applySASL(c *Config) error {
	if s.Mechanism == "" && s.User+s.Password == "" {
		return nil
	}
	if err := supported(s.Mechanism); err != nil {
		return fmt.Errorf("%w: SASL mechanism: %w", ErrConfig, err)
	}
	if s.User == "" || s.Password == "" {
		return fmt.Errorf("%w: SASL needs a user and a password (--sasl-username, and --sasl-password or the variable ISRCHECK_SASL_PASSWORD; or sasl.jaas.config in the file of --config)", ErrConfig)
	}
	switch auth := (scram.Auth{User: s.User, Pass: s.Password}); s.Mechanism {
	case "PLAIN":
		c.SASL = plain.Auth{User: s.User, Pass: s.Password}.AsMechanism()
	case "SCRAM-SHA-256":
		c.SASL = auth.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		c.SASL = auth.AsSha512Mechanism()
	}
	return nil
}

func supported(mechanism string) error {
	if mechanism == "" || !slices.Contains(Mechanisms, mechanism) {
		return fmt.Errorf("%q is not supported; expected one of %s", mechanism, strings.Join(Mechanisms, ", "))
	}
	return nil
}

// errPEM is said of what only Java's key stores have.
var errPEM = errors.New("expected PEM, without a password (keytool and openssl translate a Java key store)")

// text returns what a file holds, or the text in its place; nil for neither.
func text(path, text string) ([]byte, error) {
	if path == "" {
		if text == "" {
			return nil, nil
		}
		return []byte(text), nil
	}
	return os.ReadFile(path)
}

// anyHost demands a certificate that is trusted, for whatever host.
func anyHost(conf *tls.Config) {
	roots := conf.RootCAs
	conf.InsecureSkipVerify = true // what is skipped is done here, but for the name
	conf.VerifyConnection = func(state tls.ConnectionState) error {
		opts := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range state.PeerCertificates[1:] {
			opts.Intermediates.AddCert(c)
		}
		_, err := state.PeerCertificates[0].Verify(opts)
		return err
	}
}
