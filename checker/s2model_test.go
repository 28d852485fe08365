package checker

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/importers"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// An s2State is a stream of S2 as its own checker models it: where it ends, the hash
// of all that is in it, and its fencing token, "?" while nobody has told it.
type s2State struct {
	tail, hash uint64
	token      string
}

// s2Line is a line of a recording, as far as it is drawn here.
type s2Line struct {
	Event struct{ Start, Finish any }
	OpID  int `json:"op_id"`
}

type s2Asked struct {
	Append *struct {
		Hashes []uint64 `json:"record_hashes"`
		Match  *uint64  `json:"match_seq_num"`
		Token  *string  `json:"fencing_token"`
		Set    *string  `json:"set_fencing_token"`
	}
}

type s2Told struct {
	known, refused bool
	tail           uint64
	hash           *uint64
}

// s2Model is a stream, told in the words of its documentation: an append whose
// outcome is unknown may have taken effect, one that matches a number only there.
var s2Model = porcupine.NondeterministicModel{
	Init: func() []any { return []any{s2State{token: "?"}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.(s2State), input.(s2Asked), output.(s2Told)
		if in.Append == nil {
			if !out.known || out.tail == s.tail && (out.hash == nil || *out.hash == s.hash) {
				return []any{s}
			}
			return nil
		}
		next := s2State{s.tail + uint64(len(in.Append.Hashes)), s.hash, s.token}
		for _, h := range in.Append.Hashes {
			next.hash = xxh3.HashSeed(binary.LittleEndian.AppendUint64(nil, h), next.hash)
		}
		matches := in.Append.Match == nil || *in.Append.Match == s.tail
		if token := in.Append.Token; token != nil {
			matches = matches && (s.token == "?" || s.token == *token)
			next.token = *token
		}
		if in.Append.Set != nil {
			next.token = *in.Append.Set
		}
		switch {
		case out.refused || !out.known && !matches:
			return []any{s}
		case !out.known:
			return []any{s, next}
		case matches && out.tail == next.tail:
			return []any{next}
		}
		return nil
	},
}

// s2Legal judges a recording by the model.
func s2Legal(t *rapid.T, text string) bool {
	var calls, returns []porcupine.Event
	open := map[int]bool{}
	for line := range strings.Lines(text) {
		var l s2Line
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		if err := decoder.Decode(&l); err != nil {
			t.Fatal(err)
		}
		part, _ := json.Marshal(l.Event.Finish)
		if l.Event.Start != nil {
			part, _ = json.Marshal(l.Event.Start)
			var in s2Asked
			json.Unmarshal(part, &in)
			calls = append(calls, porcupine.Event{Kind: porcupine.CallEvent, Value: in, Id: l.OpID})
			open[l.OpID] = true
			continue
		}
		var success map[string]struct {
			Tail uint64
			Hash uint64 `json:"stream_hash"`
		}
		out := s2Told{refused: strings.Contains(string(part), "DefiniteFailure")}
		if json.Unmarshal(part, &success) == nil {
			for name, a := range success {
				out.known, out.tail = true, a.Tail
				if name == "ReadSuccess" {
					out.hash = &a.Hash
				}
			}
		}
		event := porcupine.Event{Kind: porcupine.ReturnEvent, Value: out, Id: l.OpID}
		if strings.Contains(string(part), "Indefinite") { // it may take effect at any later time
			returns = append(returns, event)
		} else {
			calls = append(calls, event)
		}
		delete(open, l.OpID)
	}
	for id := range open {
		returns = append(returns, porcupine.Event{Kind: porcupine.ReturnEvent, Value: s2Told{}, Id: id})
	}
	slices.SortFunc(returns, func(a, b porcupine.Event) int { return a.Id - b.Id })
	return porcupine.CheckEvents(s2Model.ToModel(), append(calls, returns...))
}

var (
	s2Tail   = regexp.MustCompile(`"tail":\d+`)
	s2Hash64 = regexp.MustCompile(`"stream_hash":\d+`)
)

// spoilS2 changes something that a recording tells.
func spoilS2(t *rapid.T, text string) string {
	what := draw.From(t, "what", s2Tail, s2Hash64)
	places := what.FindAllStringIndex(text, -1)
	if len(places) == 0 {
		return text
	}
	at := places[draw.Int(t, 0, len(places)-1, "place")]
	to := fmt.Sprintf(`"tail":%d`, draw.Int(t, 0, 6, "tail"))
	if what == s2Hash64 {
		other := places[draw.Int(t, 0, len(places)-1, "other")]
		to = text[other[0]:other[1]]
	}
	return text[:at[0]] + to + text[at[1]:]
}

// conditionS2 makes appends conditional and has some set a token.
func conditionS2(t *rapid.T, text string) string {
	const end = "]}}},"
	parts := strings.Split(text, end)
	for i := range parts[:len(parts)-1] {
		switch draw.Int(t, 0, 5, "condition") {
		case 0:
			parts[i] += fmt.Sprintf(`],"match_seq_num":%d}}},`, draw.Int(t, 0, 4, "match"))
		case 1:
			parts[i] += fmt.Sprintf(`],"set_fencing_token":%q}}},`, draw.From(t, "set", "a", "b"))
		case 2:
			parts[i] += fmt.Sprintf(`],"fencing_token":%q}}},`, draw.From(t, "token", "a", "b"))
		default:
			parts[i] += end
		}
	}
	return strings.Join(parts, "")
}

// TestS2Model compares the verdicts on recordings of s2-verification with those
// of a model like its own: a violation is what the model refuses.
func TestS2Model(t *testing.T) {
	kept, illegal, fenced, n := 0, 0, 0, drawn(t, 600)
	i := slices.IndexFunc(foreigners, func(f foreign) bool { return f.source == "s2" })
	rapid.Check(t, func(t *rapid.T) {
		for range n {
			opt := modeltest.Options{Linearizable: true, Dense: true, Clients: 3, Ops: 12, Scan: true}
			ops := modeltest.Legal(t, opt)
			if end := len(ops) - 1; end < 0 || ops[end].Kind != histories.Scan || ops[end].Outcome != histories.OK {
				continue
			}
			text := foreigners[i].print(slices.Clone(build(t, opt, ops).Ops()))
			conditional := draw.OneIn(t, 3, "conditional")
			if conditional {
				text = conditionS2(t, text)
			} else if draw.Int(t, 0, 3, "spoil") > 0 {
				text = spoilS2(t, text)
			}
			unknown := len(ops)*2 - strings.Count(text, "\n") + strings.Count(text, "Indefinite")
			if unknown > 5 { // its states are the subsets of these
				continue
			}
			r, err := importers.Read("drawn", strings.NewReader(text), importers.Options{})
			if err != nil {
				if strings.Contains(err.Error(), "expected a tail behind") {
					continue
				}
				t.Fatalf("%v\n%s", err, text)
			}
			if strings.Contains(r.History.Header().Note, "too many orders") {
				continue
			}
			legal := s2Legal(t, text)
			got := Check(context.Background(), r.History, Options{Engine: Both})
			if legal && got.Verdict == Violates || got.Verdict == Contradictory {
				t.Fatalf("%v\n%s\n%s", got.Err(), text, r.AppendNotation(nil))
			}
			if slices.ContainsFunc(got.Findings, func(f Finding) bool { return strings.Contains(f.Says, "condition-not-met:fencing_token") }) {
				fenced++
			}
			if !legal && got.Verdict != Violates && !strings.Contains(text, `,"fencing_token"`) { // the first token is not known
				t.Fatalf("the model refuses this, and the verdict is %s\n%s\n%s", got.Verdict, text, r.AppendNotation(nil))
			}
			if kept++; !legal {
				illegal++
			}
		}
	})
	t.Logf("the model refuses %d of %d recordings; in %d of them a fencing token was not the stream's", illegal, kept, fenced)
	if illegal == 0 || illegal == kept || fenced == 0 && illegal > 1000 {
		t.Errorf("the model refuses %d of %d recordings", illegal, kept)
	}
}
