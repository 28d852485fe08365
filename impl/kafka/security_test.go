package kafka

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/isrcheck/isrcheck/checker"
)

const secret = "tell-nobody"

// newIdentity makes a certificate for hosts that signs itself, as PEM files.
func newIdentity(t *testing.T, hosts []net.IP) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: hosts,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestSecure records by TLS with each mechanism, as flags and as a file of
// properties say, and finds the password nowhere.
func TestSecure(t *testing.T) {
	t.Parallel()
	cert, key := newIdentity(t, []net.IP{net.IPv4(127, 0, 0, 1)})
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	for i, mechanism := range Mechanisms {
		cluster := newCluster(t, kfake.NumBrokers(1), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}),
			kfake.EnableSASL(), kfake.Superuser(mechanism, "alice", secret))
		s := Security{TLS: true, CA: cert, Mechanism: mechanism, User: "alice", Password: secret}
		if i == 0 {
			s = propertiesOf(t, "security.protocol=SASL_SSL\nsasl.mechanism="+mechanism+"\nssl.truststore.type=PEM\nssl.truststore.location="+cert+
				"\nrequest.timeout.ms=10\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n  username=\"alice\" \\\n  password=\""+secret+"\";\n")
		}
		var c Config
		if err := s.Apply(&c); err != nil {
			t.Fatal(err)
		}
		got := record(t, cluster, c, nil)
		judge(t, got.History, checker.Conforms)
		var out bytes.Buffer
		if err := got.History.WriteEvents(&out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String()+fmt.Sprint(got.Remarks), secret) {
			t.Error("the password is in the recording")
		}
		if i > 0 {
			continue
		}
		for what, s := range map[string]Security{
			"a wrong password":                      {TLS: true, CA: cert, Mechanism: mechanism, User: "alice", Password: secret + "!"},
			"a certificate that nobody vouches for": {TLS: true, Mechanism: mechanism, User: "alice", Password: secret},
		} {
			c := Config{Sides: [][]string{cluster.ListenAddrs()}, Timeout: 300 * time.Millisecond}
			if err := s.Apply(&c); err != nil {
				t.Fatal(err)
			}
			if _, err := Record(t.Context(), c); err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// TestAnyHost trusts a broker whose certificate is for another host only if it
// is told to.
func TestAnyHost(t *testing.T) {
	t.Parallel()
	cert, key := newIdentity(t, []net.IP{net.IPv4(10, 1, 2, 3)})
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	cluster := newCluster(t, kfake.NumBrokers(1), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
	for algorithm, want := range map[string]bool{"https": false, "": true} {
		s := propertiesOf(t, "security.protocol=SSL\nssl.endpoint.identification.algorithm="+algorithm+"\nssl.ca.location="+cert+"\n")
		c := Config{Sides: [][]string{cluster.ListenAddrs()}, Duration: 100 * time.Millisecond}
		if err := s.Apply(&c); err != nil {
			t.Fatal(err)
		}
		if _, err := Record(t.Context(), c); (err == nil) != want {
			t.Errorf("algorithm %q: %v", algorithm, err)
		}
	}
}

func propertiesOf(t *testing.T, text string) Security {
	t.Helper()
	path := filepath.Join(t.TempDir(), "client.properties")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _, err := ReadProperties(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPropertiesOfOthers has line ends of Windows and librdkafka's names.
func TestPropertiesOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "client.properties")
	text := "metadata.broker.list=a:1,b:2\r\nsasl.mechanism=PLAIN\r\nsasl.jaas.config=x.PlainLoginModule required \\\r\n  username=\"u\" \\\r\n  password=\"p\";\r\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, bootstrap, err := ReadProperties(path)
	if err != nil || bootstrap != "a:1,b:2" || s.Mechanism != "PLAIN" || s.User != "u" || s.Password != "p" {
		t.Errorf("%+v at %q: %v", s, bootstrap, err)
	}
}

// TestPropertiesAsJavaTakesThem has what Java's clients pass over or read otherwise
// than it is mostly written.
func TestPropertiesAsJavaTakesThem(t *testing.T) {
	cert, key := newIdentity(t, nil)
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	for how, lineBreak := range map[string]string{"blanks": " ", "continued lines": " \\\n", "escapes": "\\n", "nothing": ""} {
		one := func(path string) string { return strings.ReplaceAll(read(path), "\n", lineBreak) }
		s := propertiesOf(t, "security.protocol=ssl\nssl.truststore.type=PEM\nssl.truststore.password=\nssl.truststore.certificates="+one(cert)+" "+one(cert)+
			"\nssl.keystore.certificate.chain="+one(cert)+"\nssl.keystore.key="+one(key)+"\n")
		var c Config
		if err := s.Apply(&c); err != nil || len(c.TLS.Certificates) != 1 {
			t.Errorf("%s in place of line breaks: %v", how, err)
		}
	}
	const sasl = "sasl.mechanism=GSSAPI\nsasl.jaas.config=none\n"
	const ssl = "ssl.truststore.location=missing.jks\nssl.truststore.password=p\nenable.ssl.certificate.verification=false\n"
	for text, want := range map[string]Security{
		"security.protocol=SSL\n" + sasl:             {TLS: true},
		"security.protocol=PLAINTEXT\n" + sasl + ssl: {},
		"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=x required username=alice password=p-w_1;\n" + ssl: {Mechanism: "PLAIN", User: "alice", Password: "p-w_1"},
		"sasl.mechanism=PLAIN\nsasl.jaas.config=x required password='a b' username=\"u\" ;\n":                                        {Mechanism: "PLAIN", User: "u", Password: "a b"},
		"enable.ssl.certificate.verification=true\n":                                                                                 {},
	} {
		got := propertiesOf(t, text)
		if got.properties = ""; got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestWrongProperties(t *testing.T) {
	for text, want := range map[string]string{
		"a=b\nsecurity.protocol = TELNET":                                           `:2: security.protocol: expected PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, found "TELNET"`,
		"ssl.truststore.type=JKS":                                                   ":1: ssl.truststore.type: expected PEM",
		"sasl.login.callback.handler.class=x":                                       ":1: sasl.login.callback.handler.class: this setting is not supported",
		"\n\nsasl.jaas.config=x required password=" + secret + ";":                  `:3: sasl.jaas.config: expected MODULE required username="..." password="...";`,
		"sasl.jaas.config=com.sun.Krb5LoginModule required;\nsasl.mechanism=GSSAPI": `:2: sasl.mechanism: "GSSAPI" is not supported; expected one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512`,
		"ssl.truststore.location=a.jks\nssl.truststore.password=" + secret:          ":2: ssl.truststore.password: expected PEM, without a password",
		"security.protocol=SASL_SSL\nenable.ssl.certificate.verification=false":     ":2: enable.ssl.certificate.verification: expected true",
		"enable.ssl.certificate.verification=false":                                 ":1: enable.ssl.certificate.verification: expected true",
		"security.protocol=SSL\nssl.truststore.type=JKS":                            ":2: ssl.truststore.type: expected PEM",
		"x=" + secret + "\\u00zz":                                                   ": expected lines of key=value",
	} {
		path := filepath.Join(t.TempDir(), "client.properties")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := ReadProperties(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := (Security{Mechanism: "PLAIN"}).Apply(&Config{}); err == nil || !strings.Contains(err.Error(), "--sasl-username") {
		t.Errorf("no user: %v", err)
	}
	if err := (Security{Mechanism: "GSSAPI"}).Apply(&Config{}); err == nil || !strings.Contains(err.Error(), `"GSSAPI" is not supported`) {
		t.Errorf("a mechanism that is not supported: %v", err)
	}
	for _, s := range []Security{{User: "alice"}, {Mechanism: "GSSAPI", User: "a", Password: secret}, {CA: "x.pem"}, {TLS: true, CA: "missing.pem"}, {TLS: true, Cert: os.Args[0], Key: os.Args[0]}} {
		if err := s.Apply(&Config{}); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
