package lanes_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/checker/report"
	"github.com/isrcheck/isrcheck/cmd/check/internal/lanes"
	"github.com/isrcheck/isrcheck/histories"
)

// A browser shows pages and listens to what they complain of and ask for.
type browser struct {
	context.Context
	folder string

	mu       sync.Mutex
	said     []string // to the console, and errors
	requests []string
}

// hear takes note of what a page complains of and asks for.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.said = append(b.said, fmt.Sprint("console ", e.Type))
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.Exception.Description))
	case *log.EventEntryAdded:
		b.said = append(b.said, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// open starts a browser. Where there is none the test is skipped, unless
// ISRCHECK_BROWSER demands one.
func open(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("ISRCHECK_BROWSER") != "" {
			t.Fatalf("no browser to look at pages with: %v", err)
		}
		t.Skipf("no browser to look at pages with: %v", err)
	}
	b := &browser{folder: t.TempDir()}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.UserDataDir(filepath.Join(b.folder, "profile")), chromedp.WindowSize(1280, 800),
		chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), flags...)
	t.Cleanup(cancel)
	b.Context, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Listen(b.Context, b.hear); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.EmulateViewport(1280, 800))
	return b
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.Context, actions...); err != nil {
		t.Fatal(err)
	}
}

// eval returns what an expression is in the page.
func eval[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// show opens the page of a history and returns its size in bytes.
func (b *browser) show(t *testing.T, h *histories.History) int {
	t.Helper()
	text := pageOf(t, h)
	file := filepath.Join(b.folder, "page.html")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.said, b.requests = nil, nil
	b.mu.Unlock()
	b.do(t, chromedp.Navigate("file://"+file), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
	return len(text)
}

// quiet fails the test if the page complained or asked for anything but itself.
func (b *browser) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.said) > 0 {
		t.Errorf("the page says %q", b.said)
	}
	if len(b.requests) != 1 || !strings.HasPrefix(b.requests[0], "file://") {
		t.Errorf("the page asked for %q, want nothing but itself", b.requests)
	}
}

func pageOf(t *testing.T, h *histories.History) []byte {
	t.Helper()
	cluster, err := lanes.Of(h)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := report.Page{History: h, Result: checker.Check(t.Context(), h, checker.Options{}), Next: "check replay " + h.Name(), Cluster: cluster}
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func corpusCase(t *testing.T, name string) *histories.History {
	t.Helper()
	text, err := os.ReadFile("../../../../histories/corpus/failing/" + name + ".hist")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, name+".hist", string(text))
}

func parse(t *testing.T, name, text string) *histories.History {
	t.Helper()
	h, err := histories.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// lost is an acknowledged message that is cut off by a follower on its way to lead.
const lost = `history 1
config acks=all
schedule
bug truncate-to-high-watermark
0 P3 send 4
5 nemesis move-leader to=1
5 nemesis move-leader to=2
end
0-6 P3 send 4 => ok @0
5 nemesis move-leader to=1
5 nemesis move-leader to=2
8-12 S1 scan => ok [] end=0
`

func TestPageInBrowser(t *testing.T) {
	b := open(t)
	t.Run("of a case", func(t *testing.T) { testCase(t, b) })
	t.Run("with crowded bars", func(t *testing.T) { testLabels(t, b) })
	t.Run("by keyboard", func(t *testing.T) { testKeyboard(t, b) })
	t.Run("by mouse", func(t *testing.T) { testMouse(t, b) })
	t.Run("of a hostile history", func(t *testing.T) { testHostile(t, b) })
	t.Run("of a long history", func(t *testing.T) { testLong(t, b) })
	t.Run("of a fault far from the proof", func(t *testing.T) { testFar(t, b) })
	t.Run("with crowded faults", func(t *testing.T) { testCrowdedFaults(t, b) })
	t.Run("that opens zoomed", func(t *testing.T) { testZoomed(t, b) })
	if folder := os.Getenv("ISRCHECK_SHOTS"); folder != "" {
		t.Run("to be looked at", func(t *testing.T) { shoot(t, b, folder) })
	}
}

// testZoomed looks at a page that begins with what proves it: its faults have rows
// of their own, as they have when all are seen.
func testZoomed(t *testing.T, b *browser) {
	b.show(t, faulty(t))
	const rows = `new Set([...document.querySelectorAll("rect.mark")].map((e) => e.getAttribute("y"))).size`
	const height = `document.querySelector("rect.lane").getAttribute("height")`
	zoomed := eval[string](t, b, height)
	if n := eval[int](t, b, rows); n < 3 {
		t.Errorf("faults that overlap stand in %d rows", n)
	}
	b.do(t, chromedp.Click(chromedp.CSS(`[data-zoom="fit"]`)))
	eval[bool](t, b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	if fit := eval[string](t, b, height); fit != zoomed {
		t.Errorf("the lane of faults is %s high where all is seen and %s where the page begins", fit, zoomed)
	}
}

// faulty is a history of many faults, the last record of which is lost.
func faulty(t *testing.T) *histories.History {
	var text strings.Builder
	text.WriteString("history 1\nconfig acks=all\n")
	for i := range 120 {
		at := 6 * i
		fmt.Fprintf(&text, "%d nemesis isolate node=%d for=20\n%d-%d P%d send %d => ok @%d\n", at, i%3, at+1, at+3, i%3, i, i)
	}
	text.WriteString("730-731 S1 scan => ok [")
	for i := range 119 {
		fmt.Fprintf(&text, "%d:%d ", i, i)
	}
	return parse(t, "faulty.hist", strings.TrimSuffix(text.String(), " ")+"] end=119\n")
}

// shoot takes pictures of three pages in both colour schemes.
func shoot(t *testing.T, b *browser, folder string) {
	for name, h := range map[string]*histories.History{
		"lost": parse(t, "lost-write.hist", lost), "inner": corpusCase(t, "bug-unfenced-fetch"), "long": long(t),
	} {
		b.show(t, h)
		for _, scheme := range []string{"light", "dark"} {
			media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
			if _, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, media); err != nil {
				t.Fatal(err)
			}
			picture, err := chromedp.Run(b.Context, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "report-"+name+"-"+scheme+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// inSight reports whether all of an element is seen without scrolling.
const inSight = `(e => { const r = e.getBoundingClientRect(); return r.height > 0 && r.top >= 0 && r.bottom <= innerHeight && r.right <= innerWidth })`

func testCase(t *testing.T, b *browser) {
	b.show(t, corpusCase(t, "bug-unfenced-fetch"))
	for _, selector := range []string{"h1", ".verdict.violation", ".proof button", ".next code", "#timeline .proves"} {
		if !eval[bool](t, b, inSight+fmt.Sprintf("(document.querySelector(%q))", selector)) {
			t.Errorf("%s is not seen without scrolling", selector)
		}
	}
	names := eval[string](t, b, `[...document.querySelectorAll("#timeline .name")].map(e => e.firstChild.data).join(" ")`)
	if want := "faults P1 P2 controller broker 1 broker 2 broker 3"; names != want {
		t.Errorf("the lanes are %q, want %q", names, want)
	}
	if n := eval[int](t, b, `document.querySelectorAll("#replicas .record").length`); n == 0 {
		t.Error("no replica shows its log")
	}
	if wide := eval[int](t, b, "document.documentElement.scrollWidth"); wide > 1280 {
		t.Errorf("the page is %d pixels wide and has to be scrolled sideways", wide)
	}
	if n := eval[int](t, b, `[...document.querySelectorAll("[role=button]:not([aria-label])")].length`); n > 0 {
		t.Errorf("%d items say nothing to those who do not see", n)
	}
	b.quiet(t)
}

// focused is the item that has the focus, and -1 if none has.
const focused = `Number(document.activeElement.closest("[data-i]")?.dataset.i ?? -1)`

// crowded has bars that begin where others end, and labels longer than they are.
const crowded = `history 1
0-6 P1 send 1000000001,1000000002,1000000003,1000000004,1000000005,1000000006,1000000007,1000000008 => ok @0
9-12 P1 send 1000000011,1000000012,1000000013,1000000014,1000000015,1000000016,1000000017,1000000018 => ok @8
15-18 P1 send 1000000021,1000000022,1000000023,1000000024,1000000025,1000000026,1000000027,1000000028 => ok @16
21-24 S1 scan => ok [] end=0
`

// testLabels demands that a label which begins in a bar ends in it.
func testLabels(t *testing.T, b *browser) {
	b.show(t, parse(t, "crowded.hist", crowded))
	over := eval[[]string](t, b, `[...document.querySelectorAll("#timeline g.item")].flatMap((g) => {
		const bar = g.querySelector(".op")?.getBBox(), label = g.querySelector("text.mono")?.getBBox();
		return bar && label && label.x < bar.x + bar.width && label.x + label.width > bar.x + bar.width ? [g.textContent] : [];
	})`)
	if len(over) > 0 {
		t.Errorf("labels run over the edges of their bars: %q", over)
	}
	if n := eval[int](t, b, `document.querySelectorAll("#timeline g.item text.mono").length`); n < 3 {
		t.Errorf("%d labels are drawn", n)
	}
}

func testKeyboard(t *testing.T, b *browser) {
	h := corpusCase(t, "bug-unfenced-fetch")
	b.show(t, h)
	proof := eval[int](t, b, `Number(document.querySelector("[data-item]").dataset.item)`)
	b.do(t, chromedp.KeyEvent(kb.Tab))
	if got := eval[string](t, b, "document.activeElement.dataset.item ?? ''"); got != fmt.Sprint(proof) {
		t.Fatalf("the first stop is %q, want the proof", got)
	}
	press := func(keys string, want int) {
		t.Helper()
		b.do(t, chromedp.KeyEvent(keys))
		if got := eval[int](t, b, focused); got != want {
			t.Errorf("after %q the focus is on item %d, want %d", keys, got, want)
		}
	}
	press(kb.Enter, proof)
	press(kb.ArrowLeft, proof-1)
	press(kb.ArrowRight, proof)
	press("n", proof)
	press(kb.Home, 0)
	press(kb.ArrowDown, 5) // the first operation of P1 is near enough
	press(kb.End, len(h.Ops())+len(h.Marks())-1)
	if says := eval[string](t, b, `document.querySelector("#details").innerText`); !strings.Contains(says, "not live") {
		t.Errorf("the details are %q, want those of the item with the focus", says)
	}
	width := `document.querySelector("#timeline .mark").getBBox().width`
	before := eval[float64](t, b, width)
	press("+", len(h.Ops())+len(h.Marks())-1)
	b.do(t, chromedp.KeyEvent("0"))
	eval[int](t, b, "new Promise(requestAnimationFrame).then(() => 0)")
	if after := eval[float64](t, b, width); after != before {
		t.Errorf("after zooming in and out a mark is %g wide, want %g", after, before)
	}
	b.quiet(t)
}

func testMouse(t *testing.T, b *browser) {
	b.show(t, corpusCase(t, "bug-unfenced-fetch"))
	title := `document.querySelector("#replicas h3").innerText`
	before := eval[string](t, b, title)
	b.do(t, chromedp.MouseEvent("mouseMoved", 400, 420))
	if after := eval[string](t, b, title); after == before {
		t.Errorf("the replicas stay as they were, %q, when the cursor moves", after)
	}
	b.do(t, chromedp.Click(chromedp.CSS(`[data-zoom="in"]`)), chromedp.Click(chromedp.CSS("#timeline .op")))
	if says := eval[string](t, b, `document.querySelector("#details").innerText`); !strings.Contains(says, "asked") {
		t.Errorf("the details are %q, want those of an operation", says)
	}
	b.quiet(t)
}

func testHostile(t *testing.T, b *browser) {
	nasty := "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202e\x00'\"`${1}"
	op := histories.NewOp("P<b>\u202e", histories.Send)
	op.Values, op.Outcome, op.Call, op.Return, op.Offset = []histories.Value{histories.String(nasty)}, histories.OK, 1<<62, 1<<62+1, 0
	scan := histories.NewOp("<i>", histories.Scan)
	scan.Outcome, scan.Call, scan.Return, scan.End = histories.OK, 1<<62+2, 1<<62+3, 0
	h, err := histories.New(nasty, histories.Header{}, []histories.Op{op, scan}, []histories.Mark{{Time: 1 << 62, Text: "<u>fault</u>", Offset: histories.None}})
	if err != nil {
		t.Fatal(err)
	}
	b.show(t, h)
	if title := eval[string](t, b, "document.title"); strings.HasPrefix(title, "owned") {
		t.Errorf("the title is %q: the history ran a script", title)
	}
	if n := eval[int](t, b, `document.querySelectorAll("img, u, i, b, script:not([type]) ~ script").length`); n > 0 {
		t.Errorf("%d elements of the page are the history's", n)
	}
	text := eval[string](t, b, "document.body.innerText")
	for _, want := range []string{`</script><script>document.title=`, `\u202e`, `\u0000`, fmt.Sprint(1<<62 + 1)} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if strings.ContainsAny(text, "\u202e\x00") {
		t.Error("the page holds letters that turn or end what follows")
	}
	b.quiet(t)
}

// testLong reports how long a page of 100,000 operations takes to open; how
// large it is may not pass 3 MiB.
func testLong(t *testing.T, b *browser) {
	h := long(t)
	size := b.show(t, h)
	if size > 3<<20 {
		t.Errorf("the page has %d bytes, want at most 3 MiB", size)
	}
	t.Logf("the page of %d operations has %d bytes and was ready after %s ms", len(h.Ops()), size, eval[string](t, b, "document.documentElement.dataset.ready"))
	if left := eval[string](t, b, `document.querySelector(".left").innerText`); !strings.Contains(left, "overview") {
		t.Errorf("the page says %q, want what it left out", left)
	}
	if !eval[bool](t, b, inSight+`(document.querySelector("#timeline .proves"))`) {
		t.Error("the proof is not seen without scrolling")
	}
	b.quiet(t)
}

// long is a history of which one record of many is lost.
func long(t *testing.T) *histories.History {
	t.Helper()
	var ops []histories.Op
	var log []histories.Record
	for i := range int64(100_000) {
		op := histories.NewOp(fmt.Sprint("P", i%10), histories.Send)
		call := 10*i + i*7919%7 // some sooner, some later
		op.Values, op.Outcome, op.Call, op.Return, op.Offset = []histories.Value{histories.Int(i)}, histories.OK, call, call+20+i*104729%50, i
		if i != 40_000 {
			log = append(log, histories.Record{Offset: i, Value: histories.Int(i)})
		}
		ops = append(ops, op)
	}
	scan := histories.NewOp("S1", histories.Scan)
	scan.Outcome, scan.Call, scan.Return, scan.End, scan.Records = histories.OK, 2_000_000, 2_000_001, 100_000, log
	h, err := histories.New("long.hist", histories.Header{}, append(ops, scan), nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// testFar finds the one fault between the operations of the proof, which are far
// apart, and what is said of the gap, below all lanes.
func testFar(t *testing.T, b *browser) {
	var text strings.Builder
	text.WriteString("history 1\nconfig acks=all\n1-2 P1 send -1 => ok @0\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "%d-%d P%d send %d => ok @%d\n", 10+10*i, 15+10*i, 2+i%2, i, i+1)
		if i == 1500 {
			text.WriteString("15016 nemesis crash broker=1 for=3\n")
		}
	}
	b.show(t, parse(t, "far.hist", text.String()+"90000-90001 S1 fetch from=0 => ok [1:0]\n"))
	if label := eval[string](t, b, `document.querySelector("#timeline text.fault")?.textContent ?? "none"`); label != "crash broker=1 for=3" {
		t.Errorf("the fault that is drawn is %q", label)
	}
	if !eval[bool](t, b, `document.querySelector("#timeline text.left-out").getBBox().y >= Math.max(...[...document.querySelectorAll("#timeline .lane")].map((e) => e.getBBox().y + e.getBBox().height)) - 1`) {
		t.Error("what is not drawn is said among the lanes")
	}
	b.quiet(t)
}

// testCrowdedFaults demands that no fault is drawn over the text of another.
func testCrowdedFaults(t *testing.T, b *browser) {
	var text strings.Builder
	text.WriteString("history 1\n1-3 P1 send 1 => ok @0\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%d nemesis a fault with a long name number=%d for=%d\n", 4+i, i, 5+i%7)
	}
	b.show(t, parse(t, "faults.hist", text.String()+"90-91 C1 scan => ok [] end=0\n"))
	over := eval[[]string](t, b, `(() => {
		const marks = [...document.querySelectorAll("#timeline .mark")].map((e) => e.getBBox());
		return [...document.querySelectorAll("#timeline text.fault")].filter((e) => {
			const label = e.getBBox();
			return marks.some((m) => m.x < label.x + label.width && m.x + m.width > label.x && m.y < label.y + label.height && m.y + m.height > label.y);
		}).map((e) => e.textContent);
	})()`)
	if len(over) > 0 {
		t.Errorf("faults are drawn over the texts of others: %q", over)
	}
	if n := eval[int](t, b, `document.querySelectorAll("#timeline text.fault").length`); n < 10 {
		t.Errorf("%d faults have a text", n)
	}
}
