// Package report draws a judged history as one HTML page: the verdict in a
// sentence, the operations that prove it, and a timeline of clients, brokers
// and faults. The page needs no network and no server. What it shows comes from
// a recording and may be hostile: nothing of it is ever markup or script.
package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// A Page is what there is to show of one history.
type Page struct {
	History *histories.History
	Result  *checker.Result
	Next    string   // the command that repeats it or takes it further; "" for none
	Facts   []string // what else a person should know, as sentences
	Cluster *Cluster // what went on inside, if that is known
	Problem *Problem // what the page is about, if that is not the verdict
}

// A Problem is what somebody holds against a history who compared it with what it
// should be. It heads the page in place of the verdict, which may be as it should be.
type Problem struct {
	By      string // who compared, such as "check gate, part replay"
	Name    string // of what was compared
	Verdict string // on that: violation, stale, unknown or error
	Kind    string // such as wrong-verdict, or the name of the finding
	Says    string // what was expected and what was found, in words
	Shown   string // which history is below, in words
}

// How much is shown of what a history may hold at any length.
const (
	saysWidth   = 600
	textWidth   = 300
	nameWidth   = 80
	maxFindings = 20
	maxFacts    = 20
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var style string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Parse(pageHTML))

// content is what the template gets. Its strings are plain text; the template
// escapes them for where they stand.
type content struct {
	Policy, File, Verdict, Name, Says, Rule, Next string
	Title                                         string
	Problem                                       *Problem
	Proof                                         []step
	Others                                        []other
	Facts                                         []string
	Extent, Left                                  string
	Style                                         template.CSS
	Script                                        template.JS
	Data                                          data
}

// A step is an operation or a mark that proves a finding.
type step struct {
	Index               int // among operations and marks
	Place, Text, Should string
}

// An other is a finding beside the first.
type other struct {
	Name, Says, Allowed string
	Proof               []step
	More                int
}

// Write writes the page.
func (p Page) Write(w io.Writer) error {
	c := content{File: plain(p.History.Name(), nameWidth), Verdict: p.Result.Verdict.String(), Next: plain(p.Next, saysWidth),
		Extent: p.Result.Exercised.String(), Style: template.CSS(style), Script: template.JS(script)}
	c.Policy = fmt.Sprintf("default-src 'none'; base-uri 'none'; form-action 'none'; style-src '%s'; script-src '%s'", digest(style), digest(script))
	first := c.findings(p.Result)
	switch p.Result.Verdict {
	case checker.Conforms:
		c.Says = "What the clients saw is legal"
	case checker.Violates:
	default:
		c.Says = plain(p.Result.Reason, saysWidth)
	}
	c.about(p.Problem)
	for _, fact := range p.Facts[:min(len(p.Facts), maxFacts)] {
		c.Facts = append(c.Facts, plain(fact, saysWidth))
	}
	if p.Cluster != nil && len(p.Cluster.Partitions) == 0 && p.Cluster.Note != "" {
		c.Facts = append(c.Facts, plain(p.Cluster.Note, saysWidth))
	}
	c.Data, c.Left = draw(p.History, first, p.Cluster)
	var out bytes.Buffer
	if err := page.Execute(&out, c); err != nil {
		return err
	}
	_, err := out.WriteTo(w)
	return err
}

// about titles the page, and heads it with a problem if that is another one than
// what was found.
func (c *content) about(p *Problem) {
	c.Title = c.Verdict
	if c.Name != "" {
		c.Title += " " + c.Name
	}
	if p != nil {
		c.File = plain(p.Name, saysWidth)
		if p.Kind != c.Name {
			c.Problem = &Problem{plain(p.By, nameWidth), c.File, plain(p.Verdict, nameWidth), plain(p.Kind, nameWidth),
				plain(strings.TrimSuffix(p.Says, "."), saysWidth), plain(p.Shown, nameWidth)}
			c.Title = c.Problem.Kind
		}
	}
	c.Title += ": " + c.File
}

// findings fills in what was found, and returns the finding that the page is about.
func (c *content) findings(r *checker.Result) *checker.Finding {
	var first *checker.Finding
	left := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case first == nil && f.Allowed == "":
			first = f
			c.Name, c.Says = plain(f.Name, nameWidth), plain(strings.TrimSuffix(f.Says, "."), saysWidth)
			c.Rule = plain(strings.TrimSuffix(f.Rule, "."), saysWidth)
			c.Proof = steps(f.Evidence)
		case len(c.Others) < maxFindings:
			c.Others = append(c.Others, other{plain(f.Name, nameWidth), plain(f.Says, saysWidth), plain(f.Allowed, nameWidth), steps(f.Evidence), f.More})
		default:
			left++
		}
	}
	if left > 0 {
		c.Facts = append(c.Facts, fmt.Sprintf("%s not listed; check verify --json %s lists all.", notListed(left), c.File))
	}
	return first
}

func notListed(n int) string {
	if n == 1 {
		return "1 more finding is"
	}
	return checker.Number(n) + " more findings are"
}

func steps(evidence []checker.Evidence) []step {
	var out []step
	for _, e := range evidence {
		s := step{Index: e.Index, Place: fmt.Sprintf("line %d", e.Line), Text: ends(e.Text, textWidth), Should: plain(e.Should, saysWidth)}
		if e.Line == 0 {
			s.Place = fmt.Sprintf("#%d", e.Index)
		}
		out = append(out, s)
	}
	return out
}

// digest is how a content security policy names the one text it permits.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
