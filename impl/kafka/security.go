package kafka

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/magiconair/properties"
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

// ReadProperties reads a file as the clients of Kafka take it: Java's keys, and
// librdkafka's where they differ. Keys that say nothing of how to connect are
// passed over; what is about security and not understood is an error.
func ReadProperties(path string) (s Security, bootstrap string, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return s, "", err
	}
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")) // the library does not know them where a line is continued
	p, err := loader.LoadBytes(content)
	if err != nil {
		return s, "", fmt.Errorf("%s: expected lines of key=value", path) // the cause may repeat a line
	}
	s.properties = path
	keys := p.Keys()
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	for _, key := range keys {
		value := p.GetString(key, "")
		if key == "bootstrap.servers" || key == "metadata.broker.list" {
			bootstrap = value
			continue
		}
		if err := s.property(key, value); err != nil {
			return s, "", fmt.Errorf("%s:%d: %s: %w", path, lineOf(string(content), key), key, err)
		}
	}
	return s, bootstrap, nil
}

// rank is lower for keys that say which others there are: an error about them
// explains more.
func rank(key string) int {
	switch key {
	case "sasl.mechanism", "sasl.mechanisms", "ssl.truststore.type", "ssl.keystore.type":
		return 0
	}
	return 1
}

// lineOf is the line in which a key is set last, as the last one counts.
func lineOf(content, key string) int {
	line := 1
	for i, l := range strings.Split(content, "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(l, " \t\f"), key); ok && strings.IndexAny(rest, "=: \t") == 0 {
			line = i + 1
		}
	}
	return line
}

// property takes over one key.
func (s *Security) property(key, value string) error {
	set := func(to *string) error { *to = value; return nil }
	switch key {
	case "security.protocol":
		return s.protocol(strings.ToUpper(value))
	case "sasl.mechanism", "sasl.mechanisms":
		s.Mechanism = value
		return supported(value)
	case "sasl.username":
		return set(&s.User)
	case "sasl.password":
		return set(&s.Password)
	case "sasl.jaas.config":
		return s.jaas(value)
	case "ssl.truststore.location", "ssl.ca.location":
		return set(&s.CA)
	case "ssl.truststore.certificates", "ssl.ca.pem":
		return set(&s.caText)
	case "ssl.certificate.location":
		return set(&s.Cert)
	case "ssl.key.location":
		return set(&s.Key)
	case "ssl.keystore.certificate.chain", "ssl.certificate.pem":
		return set(&s.certText)
	case "ssl.keystore.key", "ssl.key.pem":
		return set(&s.keyText)
	case "ssl.keystore.location": // of type PEM: the key and the certificate in one file
		s.Cert, s.Key = value, value
	case "ssl.truststore.type", "ssl.keystore.type":
		if value != "PEM" {
			return errPEM
		}
	case "ssl.truststore.password", "ssl.keystore.password", "ssl.key.password":
		return errPEM
	case "ssl.endpoint.identification.algorithm":
		s.AnyHost = value == "" || value == "none"
	case "ssl.protocol", "ssl.enabled.protocols":
		// the library agrees with the broker
	default:
		for _, about := range []string{"security.", "sasl.", "ssl."} {
			if strings.HasPrefix(key, about) {
				return errors.New("this setting is not supported")
			}
		}
	}
	return nil
}

func (s *Security) protocol(name string) error {
	switch name {
	case "PLAINTEXT", "SASL_PLAINTEXT":
	case "SSL", "SASL_SSL":
		s.TLS = true
	default:
		return fmt.Errorf("expected PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, found %q", name)
	}
	return nil
}

var jaasOption = regexp.MustCompile(`(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')`)

// jaas reads the value of sasl.jaas.config, in which Java's clients hold the
// user and the password.
func (s *Security) jaas(value string) error {
	for _, m := range jaasOption.FindAllStringSubmatch(value, -1) {
		text := regexp.MustCompile(`\\(.)`).ReplaceAllString(m[2], "$1") + m[3]
		switch m[1] {
		case "username":
			s.User = text
		case "password":
			s.Password = text
		}
	}
	if s.User == "" || s.Password == "" {
		return errors.New(`expected MODULE required username="..." password="...";`)
	}
	return nil
}
