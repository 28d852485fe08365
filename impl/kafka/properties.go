package kafka

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/magiconair/properties"
)

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
	protocol := strings.ToUpper(strings.TrimSpace(p.GetString("security.protocol", "")))
	for _, key := range keys {
		value := p.GetString(key, "")
		if pointless(protocol, key) {
			continue
		}
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

// pointless reports whether a protocol has no use for a setting, so that clients
// pass it over, whatever it says.
func pointless(protocol, key string) bool {
	tls := strings.HasPrefix(key, "ssl.") || key == "enable.ssl.certificate.verification"
	return strings.HasPrefix(key, "sasl.") && (protocol == "PLAINTEXT" || protocol == "SSL") ||
		tls && (protocol == "PLAINTEXT" || protocol == "SASL_PLAINTEXT")
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

var pemBlock = regexp.MustCompile(`(?s)-----BEGIN ([^-]+)-----(.*?)-----END ([^-]+)-----`)

// wrapped is a text in PEM with the line breaks that it has to have. In a file of
// properties there may be blanks in their place, as Java's clients take it.
func wrapped(text string) string {
	var out strings.Builder
	for _, m := range pemBlock.FindAllStringSubmatch(text, -1) {
		fmt.Fprintf(&out, "-----BEGIN %s-----\n", m[1])
		body := strings.Join(strings.Fields(m[2]), "")
		for line := range slices.Chunk([]byte(body), 64) {
			fmt.Fprintf(&out, "%s\n", line)
		}
		fmt.Fprintf(&out, "-----END %s-----\n", m[3])
	}
	return cmp.Or(out.String(), text)
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
		return s.protocol(strings.ToUpper(strings.TrimSpace(value)))
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
		s.caText = wrapped(value)
	case "ssl.certificate.location":
		return set(&s.Cert)
	case "ssl.key.location":
		return set(&s.Key)
	case "ssl.keystore.certificate.chain", "ssl.certificate.pem":
		s.certText = wrapped(value)
	case "ssl.keystore.key", "ssl.key.pem":
		s.keyText = wrapped(value)
	case "ssl.keystore.location": // of type PEM: the key and the certificate in one file
		s.Cert, s.Key = value, value
	case "ssl.truststore.type", "ssl.keystore.type":
		if value != "PEM" {
			return errPEM
		}
	case "ssl.truststore.password", "ssl.keystore.password", "ssl.key.password":
		if value != "" {
			return errPEM
		}
	case "enable.ssl.certificate.verification":
		if value != "true" {
			return errors.New("expected true: a broker that nobody vouches for is told no password; ssl.ca.location says whom to trust")
		}
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

var jaasOption = regexp.MustCompile(`(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s;"']+))`)

// jaas reads the value of sasl.jaas.config, in which Java's clients hold the
// user and the password.
func (s *Security) jaas(value string) error {
	for _, m := range jaasOption.FindAllStringSubmatch(value, -1) {
		text := regexp.MustCompile(`\\(.)`).ReplaceAllString(m[2], "$1") + m[3] + m[4]
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
