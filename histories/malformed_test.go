package histories

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestMalformedNotation demands the place of the error and what it says.
func TestMalformedNotation(t *testing.T) {
	const h = "history 1\n"
	tests := []struct{ name, text, want string }{
		{"empty", "", "x:1:1: the file is empty"},
		{"only a byte order mark", "\ufeff", "x:1:1: the file is empty"},
		{"blank", " \n\r\n", "x:1:1: the file is empty"},
		{"comments only", "# why\n# not", `x:2:1: expected "history 1", but the file ends here`},
		{"no version", "1-2 P1 send 1 => ok @0", `x:1:1: expected "history 1", found "1-2"`},
		{"other word", "config acks=all\n", `x:1:1: expected "history 1", found "config"`},
		{"other version", "history 2\n", "x:1:1: version 2 of the format is not supported"},
		{"version missing", "history\n", "x:1:8: expected the version of the format, but the line ends here"},
		{"version and more", "history 1 2\n", "x:1:11: expected the end of the line"},
		{"header twice", h + "history 1\n", "x:2:1: history is stated twice"},
		{"expect twice", h + "expect ok\n# so\nexpect ok\n", "x:4:1: expect is stated twice"},
		{"header behind items", h + "1 nemesis kill\nexpect ok\n", "x:3:1: expect belongs to the header"},
		{"unknown word", h + "expects ok\n", `x:2:1: unknown word "expects"; expected a time, or one of config`},
		{"not a word", h + "=\n", "x:2:1: expected a time, a header word or a comment"},
		{"config without settings", h + "config\n", "x:2:7: expected key=value"},
		{"config without value", h + "config acks\n", `x:2:12: expected "=" and a value`},
		{"unknown config key", h + "config acks=all ack=1\n", `x:2:17: unknown config key "ack"; expected x-... or one of acks, enable.idempotence`},
		{"config key twice", h + "config acks=all\nconfig acks=1\n", `x:3:8: config key "acks" is stated twice`},
		{"config value", h + "config acks=2\n", `x:2:8: config "acks": expected all or 1 or 0, found "2"`},
		{"config integer", h + "config replication.factor=03\n", "x:2:8: config replication.factor: expected an integer"},
		{"config of nobody", h + "config isolation.level.=read_committed\n", "x:2:8: config key"},
		{"config allow", h + "config allow=gap,loss\n", `x:2:8: config allow: unknown anomaly "loss"`},
		{"note without text", h + "note\n1- P poll\n", "x:2:1: expected a text after note"},
		{"note without space", h + "note\"x\"\n", "x:2:5: expected a space"},
		{"verdict", h + "expect fine\n", "x:2:8: expected ok, unknown or violation NAME"},
		{"no verdict", h + "expect\n", "x:2:7: expected ok, unknown or violation NAME"},
		{"violation of what", h + "expect violation\n", "x:2:8: expected the name of an anomaly"},
		{"violation of nothing", h + "expect violation gap,\n", `x:2:8: unknown anomaly ""`},
		{"names of ok", h + "expect ok gap\n", "x:2:8: expect ok takes no names"},
		{"anomaly", h + "expect violation lostwrite\n", `x:2:8: unknown anomaly "lostwrite"`},
		{"schedule without end", h + "schedule\nset a=b\n", `x:2:1: expected a line "end" after the schedule`},
		{"empty schedule", h + "schedule\nend\n", `x:3:1: expected the lines of a schedule`},

		{"invalid UTF-8", h + "1 nemesis \xff\n", "x:2:11: byte 0xff is not valid UTF-8"},
		{"NUL", h + "1 nemesis a\x00b\n", "x:2:12: control character 0x00"},
		{"lone carriage return", h + "1 nemesis a\rb\n", "x:2:12: a carriage return within the line"},

		{"time only", h + "1\n", "x:2:2: expected nemesis or client, but the line ends here"},
		{"mark of nobody", h + "1 P1 send 1\n", `x:2:3: expected nemesis or client, found "P1"`},
		{"negative time", h + "-1-2 P1 poll => ok []\n", "x:2:1: a time is negative"},
		{"time too large", h + "9223372036854775808 nemesis x\n", "x:2:1: a time does not fit in 64 bits"},
		{"time with zeros", h + "01 nemesis x\n", "x:2:1: expected a time without leading zeros"},
		{"time with fraction", h + "1.5 nemesis x\n", "x:2:1: expected a time without a fraction"},
		{"time and letters", h + "1x nemesis\n", `x:2:2: expected a space, found "x"`},
		{"return before call", h + "3-2 P1 poll => ok []\n", "x:2:1: the completion at 2 is before the invocation at 3"},
		{"no process", h + "1-2\n", "x:2:4: expected a process, but the line ends here"},
		{"empty process", h + "1-2 \"\" poll => ok []\n", "x:2:5: expected the name of a process"},
		{"nemesis is no process", h + "1-2 nemesis poll => ok []\n", `x:2:5: "nemesis" is not the name of a process`},
		{"client is no process", h + "1 client client crash\n", `x:2:10: "client" is not the name of a process`},
		{"no operation", h + "1-2 P1\n", "x:2:7: expected an operation, but the line ends here"},
		{"unknown operation", h + "1-2 P1 sned 1 => ok @0\n", `x:2:8: unknown operation "sned"; expected one of send, fetch`},
		{"send of nothing", h + "1-2 P1 send => ok @0\n", `x:2:13: expected a value, found "=>"`},
		{"values with spaces", h + "1-2 P1 send 1, 2 => ok @0\n", `x:2:15: expected a value, found " 2`},
		{"a word for a value", h + "1-2 P1 send one => ok @0\n", `x:2:13: expected a value, found "one"`},
		{"value too small", h + "1-2 P1 send -9223372036854775809 => ok @0\n", "x:2:13: a value does not fit in 64 bits"},
		{"minus zero", h + "1-2 P1 send -0 => ok @0\n", "x:2:13: expected a value without leading zeros"},
		{"open quote", h + `1-2 P1 send "one => ok @0`, "x:2:13: expected a closing quote"},
		{"escape", h + `1-2 P1 send "\x" => ok @0`, `x:2:14: expected an escape of JSON`},
		{"half an escape", h + `1-2 P1 send "\u00`, `x:2:15: expected u and four hexadecimal digits`},
		{"half a surrogate pair", h + `1-2 P1 send "\ud800" => ok @0`, "x:2:14: expected a pair of surrogates"},
		{"unknown argument", h + "1-2 P1 send 1 ack=1 => ok @0\n", `x:2:15: unknown argument "ack" of send; expected one of key, acks, tx, ts, on`},
		{"argument of another", h + "1-2 P1 poll from=1 => ok []\n", `x:2:13: unknown argument "from" of poll; expected one of tx, on`},
		{"argument twice", h + "1-2 P1 send 1 tx=T tx=T => ok @0\n", "x:2:20: tx is stated twice"},
		{"acks", h + "1-2 P1 send 1 acks=-1 => ok @0\n", `x:2:20: acks: expected all, 1 or 0, found "-1"`},
		{"key without quotes", h + "1-2 P1 send 1 key=k => ok @0\n", `x:2:19: expected an integer or a quoted string, found "k"`},
		{"empty transaction", h + "1-2 P1 begin tx=\"\" => ok\n", "x:2:17: expected the name of a transaction"},
		{"no transaction", h + "1-2 P1 begin => ok\n", "x:2:8: begin needs tx"},
		{"partition", h + "1-2 P1 poll on=t => ok []\n", `x:2:16: expected TOPIC/PARTITION, found "t"`},
		{"partition with zeros", h + "1-2 P1 poll on=t/01 => ok []\n", "x:2:16: expected TOPIC/PARTITION"},
		{"partition too large", h + "1-2 P1 poll on=t/2147483648 => ok []\n", "x:2:16: expected TOPIC/PARTITION"},
		{"fetch from nowhere", h + "1-2 P1 fetch => ok []\n", "x:2:8: fetch needs from"},
		{"negative offset", h + "1-2 P1 fetch from=-1 => ok []\n", "x:2:19: an offset is negative"},
		{"seek nowhere", h + "1-2 P1 seek => ok\n", `x:2:13: expected an offset, found "=>"`},
		{"list of nothing", h + "1-2 P1 list last => ok @0\n", `x:2:13: expected latest, earliest or ts=N, found "last"`},
		{"list twice", h + "1-2 P1 list latest ts=4 => ok @0\n", `x:2:20: unknown argument "ts"`},
		{"no result", h + "1-2 P1 poll\n", `x:2:12: expected an argument or "=> ok"`},
		{"result of an open operation", h + "1- P1 poll => ok []\n", "x:2:12: an operation that never completed has no result"},
		{"arrow", h + "1-2 P1 poll = ok []\n", `x:2:14: expected an argument or "=> ok"`},
		{"outcome", h + "1-2 P1 poll => yes\n", `x:2:16: expected ok, fail or info, found "yes"`},
		{"send without offset", h + "1-2 P1 send 1 => ok\n", "x:2:20: expected the result @N, but the line ends here"},
		{"read without records", h + "1-2 P1 poll => ok hw=1\n", "x:2:23: expected the result [off:val ...]"},
		{"list without offset", h + "1-2 P1 list latest => ok\n", "x:2:25: expected the result @N"},
		{"list of no offset", h + "1-2 P1 list latest => ok @-\n", "x:2:27: expected an offset"},
		{"delete without start", h + "1-2 P1 delete-records 3 => ok\n", "x:2:30: expected the result start=N"},
		{"failed send with offset", h + "1-2 P1 send 1 => fail @0\n", "x:2:23: send => fail does not have an offset; expected code=NAME"},
		{"failed read with records", h + "1-2 P1 poll => fail [0:1]\n", "x:2:21: poll => fail does not have records"},
		{"ok with a code", h + "1-2 P1 send 1 => ok @0 code=X\n", `x:2:24: send => ok does not have "code"; expected @N`},
		{"mark of another", h + "1-2 P1 poll => ok [] end=3\n", `x:2:22: poll => ok does not have "end"; expected [off:val ...], hw=N, lso=N`},
		{"mark twice", h + "1-2 P1 poll => ok [] hw=3 hw=3\n", `x:2:27: "hw" is stated twice`},
		{"records twice", h + "1-2 P1 poll => ok [] []\n", `x:2:22: records is stated twice`},
		{"unknown result", h + "1-2 P1 subscribe => ok done\n", `x:2:24: expected a result, found "done"`},
		{"open records", h + "1-2 P1 poll => ok [0:1 \n", `x:2:24: expected OFFSET:VALUE or "]", but the line ends here`},
		{"record without value", h + "1-2 P1 poll => ok [0]\n", `x:2:21: expected ":" and a value`},
		{"records with commas", h + "1-2 P1 poll => ok [0:1,1:2]\n", `x:2:23: expected a space, found ",1:2]"`},
		{"record at the edge", h + "1-2 P1 poll => ok [9223372036854775807:1]\n", "x:2:1: offset of a record: expected 0 to 2^63-2"},
		{"batch over the edge", h + "1-2 P1 send 1,2 => ok @9223372036854775806\n", "x:2:1: offset 9223372036854775806 and a batch of 2 records do not fit"},
		{"nemesis without words", h + "1 nemesis \n", "x:2:11: expected a fault, in words"},
		{"unknown marker", h + "1 client C1 rest 1\n", `x:2:13: unknown marker "rest"; expected one of reset`},
		{"reset where", h + "1 client C1 reset\n", "x:2:18: expected an offset, latest or earliest"},
		{"reset elsewhere", h + "1 client C1 reset last\n", `x:2:19: expected an offset, latest or earliest, found "last"`},
		{"assigned where", h + "1 client C1 assigned 4\n", `x:2:22: expected from=N, found "4"`},
		{"marker and more", h + "1 client C1 crash now\n", `x:2:19: expected on=TOPIC/PARTITION or the end of the line, found "now"`},
		{"note of nothing", h + "1 client C1 note \n", "x:2:18: expected a text"},

		{"overlap", h + "1-4 C1 poll => ok []\n# so\n3-5 C1 poll => ok []\n", `x:4:1: process "C1" calls poll at 3 while its poll of time 1 (line 2) is under way`},
		{"overlap with a send", h + "1-4 P1 send 1 => ok @0\n3-5 P1 poll => ok []\n", `x:3:1: process "P1" calls poll at 3 while its send`},
		{"commit overlaps with a send of it", h + "1-2 P1 begin tx=T => ok\n3-7 P1 send 1 tx=T => ok @0\n5-9 P1 commit tx=T => ok\n", `x:4:1: process "P1" calls commit at 5 while its send of time 3 (line 3) is under way; only sends of one process may overlap (commit begins when the sends that it waits for have ended: flush them before)`},
		{"send overlaps", h + "1-4 P1 poll => ok []\n3-5 P1 send 1 => ok @0\n", `x:3:1: process "P1" calls send at 3 while its poll`},
		{"after an open operation", h + "1- P1 send 1\n9-9 P1 poll => ok []\n", `x:3:1: process "P1" calls poll at 9 while its send`},
		{"overlap behind a shorter send", h + "1-9 P1 send 1 => ok @0\n2-3 P1 send 2 => ok @1\n4-5 P1 poll => ok []\n", `x:4:1: process "P1" calls poll at 4 while its send of time 1 (line 2)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { demand(t, parse(tt.text), tt.want) })
	}
}

func TestMalformedEvents(t *testing.T) {
	const (
		h    = `{"history":1}` + "\n"
		send = `{"time":1,"process":"P1","type":"invoke","f":"send","values":[1]}` + "\n"
		poll = `{"time":1,"process":"C1","type":"invoke","f":"poll"}` + "\n"
	)
	tests := []struct{ name, text, want string }{
		{"no version", `{"config":{}}`, `x:1:1: expected "history":1 in the first line`},
		{"an event first", poll, `x:1:2: unknown key "time"`},
		{"other version", `{"history":2}`, "x:1:12: version 2 of the format is not supported"},
		{"version as text", `{"history":"1"}`, "x:1:12: expected the version of the format"},
		{"header twice", h + h, `x:2:2: unknown key "history"`},
		{"header key twice", `{"history":1,"history":1}`, `x:1:14: "history" is stated twice`},
		{"config key twice", `{"history":1,"config":{"acks":"1","acks":"1"}}`, `x:1:35: config key "acks" is stated twice`},
		{"config value", `{"history":1,"config":{"acks":1}}`, "x:1:31: expected a string, found"},
		{"unknown config key", `{"history":1,"config":{"ack":"1"}}`, `x:1:24: unknown config key "ack"`},
		{"verdict", `{"history":1,"expect":"fine"}`, "x:1:23: expected ok, unknown or violation"},
		{"layout", `{"history":1,"x-layout":["why"]}`, "x:1:1: layout: expected a comment or one of"},
		{"layout of two lines", `{"history":1,"x-layout":["# a\n# b"]}`, "x:1:1: layout: expected a comment or one of"},
		{"schedule that ends", `{"history":1,"schedule":"a\nend\nb"}`, "x:1:1: a line \"end\" inside the schedule"},
		{"note with a bell", `{"history":1,"note":"\u0007"}`, "x:1:1: note: control character 0x07"},
		{"truncated header", `{"history":1,`, "x:1:14: expected a key in quotes, but the line ends here (the file ends in this line"},

		{"not JSON", h + "1-2 P1 poll => ok []\n", `x:2:1: expected a JSON object, found "1-2"`},
		{"garbage behind", h + poll[:len(poll)-1] + "}\n", `x:2:53: expected the end of the line, found "}"`},
		{"two on a line", h + poll[:len(poll)-1] + poll, `x:2:53: expected the end of the line`},
		{"cut off", h + poll + `{"time":1,"proc`, `x:3:11: expected a closing quote before the end of the line (the file ends in this line without a line break`},
		{"unknown key", h + `{"time":1,"proces":"C1"}`, `x:2:11: unknown key "proces"; expected one of index, time, process`},
		{"key twice", h + `{"time":1,"time":1}`, `x:2:11: "time" is stated twice`},
		{"extension twice", h + `{"x-a":1,"x-a":1}`, `x:2:10: "x-a" is stated twice`},
		{"deep extension", h + `{"x-a":` + strings.Repeat("[", 1000), "x:2:109: values are nested more than 100 deep"},
		{"broken extension", h + `{"x-a":nul}`, `x:2:8: expected a JSON value, found "nul}"`},
		{"number of an extension", h + `{"x-a":01}`, "x:2:8: expected a JSON value"},
		{"comma at the end", h + `{"time":1,}`, "x:2:11: expected a key in quotes"},
		{"no colon", h + `{"time" 1}`, `x:2:9: expected ":"`},
		{"no comma", h + `{"time":1 "f":2}`, `x:2:11: expected "," or "}"`},
		{"no time", h + `{"process":"C1","type":"invoke","f":"poll"}`, `x:2:1: expected an event with "time"`},
		{"no process", h + `{"time":1,"type":"invoke","f":"poll"}`, `x:2:1: expected an event with "process"`},
		{"no type", h + `{"time":1,"process":"C1","f":"poll"}`, `x:2:1: expected an event with "type"`},
		{"no f", h + `{"time":1,"process":"C1","type":"invoke"}`, `x:2:1: expected an event with "f"`},
		{"time as a float", h + `{"time":1.0}`, "x:2:9: expected a time without a fraction"},
		{"time with exponent", h + `{"time":1e3}`, "x:2:9: expected a time without a fraction or an exponent"},
		{"time as text", h + `{"time":"1"}`, `x:2:9: expected a time, found "\"1\"}"`},
		{"negative time", h + `{"time":-1}`, "x:2:9: a time is negative"},
		{"negative index", h + `{"index":-1}`, "x:2:10: a number is negative"},
		{"time too large", h + `{"time":123456789012345678901234567890}`, "x:2:9: a time does not fit in 64 bits"},
		{"invalid UTF-8", h + "{\"time\":1,\"f\":\"\xc3\"}", "x:2:16: byte 0xc3 is not valid UTF-8"},
		{"NUL", h + "{\x00}", "x:2:2: control character 0x00"},
		{"type", h + `{"time":1,"process":"C1","type":"okay","f":"poll"}`, `x:2:33: expected invoke, ok, fail or info, found "okay"`},
		{"operation", h + `{"time":1,"process":"C1","type":"invoke","f":"pol"}`, `x:2:46: unknown operation "pol"; expected one of send`},
		{"empty process", h + `{"time":1,"process":"","type":"invoke","f":"poll"}`, `x:2:21: expected the name of a process`},
		{"partition", h + `{"time":1,"process":"C1","type":"invoke","f":"poll","on":"t"}`, `x:2:58: expected TOPIC/PARTITION`},
		{"send of nothing", h + `{"time":1,"process":"C1","type":"invoke","f":"send"}`, `x:2:46: send needs values`},
		{"send of an empty batch", h + `{"time":1,"process":"C1","type":"invoke","f":"send","values":[]}`, `x:2:46: send needs values`},
		{"value", h + `{"time":1,"process":"C1","type":"invoke","f":"send","values":[true]}`, `x:2:63: expected an integer or a string`},
		{"acks", h + `{"time":1,"process":"C1","type":"invoke","f":"send","values":[1],"acks":"2"}`, `x:2:46: acks: expected all, 1 or 0`},
		{"list of nothing", h + `{"time":1,"process":"C1","type":"invoke","f":"list","at":"last"}`, `x:2:46: list: expected latest, earliest or ts=N`},
		{"list without a timestamp", h + `{"time":1,"process":"C1","type":"invoke","f":"list","at":"ts"}`, `x:2:46: list at a timestamp needs ts`},
		{"list with a timestamp", h + `{"time":1,"process":"C1","type":"invoke","f":"list","at":"latest","ts":1}`, `x:2:46: list latest does not take ts`},
		{"answer in the question", h + `{"time":1,"process":"C1","type":"invoke","f":"poll","hw":1}`, `x:2:58: invocation of poll does not have "hw"`},
		{"offset in the question", h + `{"time":1,"process":"C1","type":"invoke","f":"poll","offset":1}`, `x:2:62: invocation of poll does not have "offset"`},
		{"argument of another", h + `{"time":1,"process":"C1","type":"invoke","f":"poll","from":1}`, `x:2:60: invocation of poll does not have "from"`},
		{"empty transaction", h + `{"time":1,"process":"C1","type":"invoke","f":"poll","tx":""}`, `x:2:58: expected the name of a transaction`},

		{"no invocation", h + `{"time":1,"process":"C1","type":"ok","f":"poll","records":[]}`, `x:2:21: process "C1" has no operation under way`},
		{"two completions", h + poll + strings.Repeat(`{"time":2,"process":"C1","type":"fail","f":"poll"}`+"\n", 2), `x:4:21: process "C1" has no operation under way`},
		{"completion of another", h + poll + `{"time":2,"process":"C1","type":"ok","f":"subscribe"}`, `x:3:42: process "C1" has another operation under way than subscribe`},
		{"unknown id", h + send + `{"time":2,"process":"P1","type":"ok","f":"send","id":4}`, `x:3:54: process "P1" has no operation with this id under way`},
		{"id twice", h + strings.Repeat(`{"time":2,"process":"P1","type":"invoke","f":"send","values":[1],"id":4}`+"\n", 2), `x:3:71: process "P1" has an operation with this id under way`},
		{"ambiguous", h + send + send + `{"time":2,"process":"P1","type":"ok","f":"send"}`, `x:4:42: process "P1" has several operations send under way; expected an "id"`},
		{"before its invocation", h + poll + `{"time":0,"process":"C1","type":"fail","f":"poll"}`, `x:3:9: the completion at 0 is before the invocation at 1 (line 2)`},
		{"other values", h + send + `{"time":2,"process":"P1","type":"ok","f":"send","values":[2]}`, `x:3:58: "values" is not what the invocation (line 2) says: send 1`},
		{"other partition", h + send + `{"time":2,"process":"P1","type":"ok","f":"send","on":"t/1"}`, `x:3:54: "on" is not what the invocation (line 2) says`},
		{"argument not asked", h + send + `{"time":2,"process":"P1","type":"ok","f":"send","tx":"T"}`, `x:3:54: "tx" is not what the invocation (line 2) says`},
		{"no records", h + poll + `{"time":2,"process":"C1","type":"ok","f":"poll"}`, `x:3:33: poll => ok needs records`},
		{"records of a failure", h + poll + `{"time":2,"process":"C1","type":"fail","f":"poll","records":[]}`, `x:3:61: poll => fail does not have "records"`},
		{"ok with a code", h + send + `{"time":2,"process":"P1","type":"ok","f":"send","code":"X"}`, `x:3:56: send => ok does not have "code"`},
		{"offset of a failure", h + send + `{"time":2,"process":"P1","type":"fail","f":"send","offset":0}`, `x:3:60: send => fail does not have "offset"`},
		{"record", h + poll + `{"time":2,"process":"C1","type":"ok","f":"poll","records":[0,1]}`, `x:3:60: expected [OFFSET,VALUE]`},
		{"record of three", h + poll + `{"time":2,"process":"C1","type":"ok","f":"poll","records":[[0,1,2]]}`, `x:3:64: expected "]"`},
		{"record of one", h + poll + `{"time":2,"process":"C1","type":"ok","f":"poll","records":[[0]]}`, `x:3:62: expected "," and a value`},
		{"overlap", h + poll + poll, `x:3:1: process "C1" calls poll at 1 while its poll of time 1 (line 2) is under way`},

		{"invoked fault", h + `{"time":1,"process":"nemesis","type":"invoke","f":"kill"}`, `x:2:38: a mark has the type info, found "invoke"`},
		{"fault without words", h + `{"time":1,"process":"nemesis","type":"info","f":""}`, `x:2:49: expected a text`},
		{"fault of two lines", h + `{"time":1,"process":"nemesis","type":"info","f":"a\nb"}`, `x:2:49: nemesis: control character 0x0a`},
		{"fault on a partition", h + `{"time":1,"process":"nemesis","type":"info","f":"a","on":"t/0"}`, `x:2:58: a mark does not have "on"`},
		{"marker", h + `{"time":1,"process":"client","type":"info","f":"C1 rest"}`, `x:2:48: unknown marker "rest"`},
		{"marker of two lines", h + `{"time":1,"process":"C1","type":"info","f":"note a\nb"}`, `x:2:44: control character 0x0a`},
		{"comment", h + `{"x-comment":"why"}`, `x:2:14: expected an empty string or one line that begins with "#"`},
		{"comment of two lines", h + `{"x-comment":"#\n"}`, `x:2:14: expected an empty string or one line`},
		{"comment and more", h + `{"x-comment":"","time":1}`, `x:2:24: a comment does not have "time"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { demand(t, parse(tt.text), tt.want) })
	}
}

func TestMalformedFiles(t *testing.T) {
	text := []byte("{\"history\":1}\n" + strings.Repeat(`{"time":1,"process":"nemesis","type":"info","f":"restart"}`+"\n", 5000))
	var zipped, zstded, nothing bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(text)
	z.Close()
	gzip.NewWriter(&nothing).Close()
	s, err := zstd.NewWriter(&zstded)
	if err != nil {
		t.Fatal(err)
	}
	s.Write(text)
	s.Close()
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"nothing in gzip", nothing.Bytes(), "x:1:1: the file is empty"},
		{"gzip header", zipped.Bytes()[:5], "x:1:1: the gzip data is cut off or damaged: unexpected EOF"},
		{"half of gzip", zipped.Bytes()[:zipped.Len()/2], "the gzip data is cut off or damaged: unexpected EOF"},
		{"gzip without checksum", zipped.Bytes()[:zipped.Len()-1], "the gzip data is cut off or damaged: unexpected EOF"},
		{"half of zstd", zstded.Bytes()[:zstded.Len()/2], "the zstd data is cut off or damaged: unexpected EOF"},
		{"zstd header", zstded.Bytes()[:4], "x:1:1: the zstd data is cut off or damaged: unexpected EOF"},
		{"gzip and more", append(bytes.Clone(zipped.Bytes()), "more"...), "the gzip data is cut off or damaged"},
		{"UTF-16", []byte("\xff\xfeh\x00i\x00"), "x:1:1: the text is UTF-16; expected UTF-8"},
		{"UTF-16 of the other kind", []byte("\xfe\xff\x00h\x00i"), "x:1:1: the text is UTF-16; expected UTF-8"},
		{"only blank lines", []byte(" \n\t\r\n\n"), "x:1:1: the file is empty"},
		{"tab in a string", []byte("history 1\n1-2 P1 send \"a\tb\" => ok @0\n"), `x:2:15: expected no tab in a string; it is written \t`},
		{"tab in a string of JSON", []byte("{\"history\":1,\"note\":\"\t\"}\n"), `x:1:22: expected no tab in a string`},
		{"two files in one", []byte("history 1\n\ufeffhistory 1\n"), `x:2:1: expected a time, a header word or a comment, found "\ufeffhistory"`},
		{"two files of events in one", []byte("{\"history\":1}\n\ufeff{\"history\":1}\n"), `x:2:1: expected a JSON object, found "\ufeff{`},
		{"line ends of old", []byte("history 1\r1-2 P1 send 1\r"), `x:1:10: a carriage return within the line`},
		{"zstd that asks for a window of 2 GiB", []byte("\x28\xb5\x2f\xfd\x00\xa8\x09\x00\x00h"), "the zstd data is cut off or damaged: window size exceeded"},
		{"other data", []byte("\xfd7zXZ\x00"), "x:1:6: control character 0x00"},
		{"a long line", bytes.Repeat([]byte("garbage "), 10<<20/8), `x:1:1: expected "history 1", found "garbage"`},
		{"a long word", bytes.Repeat([]byte("g"), 10<<20), `x:1:1: expected "history 1", found "gggg`},
		{"a long line of JSON", append([]byte("{\"history\":1}\n{"), bytes.Repeat([]byte("\"g"), 10<<20/2)...), `x:2:5: expected ":", found "g\"g\"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read("x", bytes.NewReader(tt.data))
			demandWithin(t, err, tt.want)
		})
	}
}

func TestReadTellsWhatFailed(t *testing.T) {
	broken := errors.New("connection reset")
	for _, start := range []string{"history 1\n1 nem", "{\"history\":1}\n{\"ti"} {
		_, err := Read("x", io.MultiReader(strings.NewReader(start), failing{broken}))
		if !errors.Is(err, broken) {
			t.Errorf("got %v, want what the reader said", err)
		}
		demandWithin(t, err, "x:2:")
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestNewRejects(t *testing.T) {
	op := func(change func(*Op)) []Op {
		o := NewOp("P1", Send)
		o.Values, o.Outcome, o.Return = []Value{Int(1)}, OK, 5
		change(&o)
		return []Op{o}
	}
	mark := func(m Mark) []Mark { return []Mark{m} }
	tests := []struct {
		name   string
		header Header
		ops    []Op
		marks  []Mark
		want   string
	}{
		{name: "kind", ops: op(func(o *Op) { o.Kind = 99 }), want: "x: operation 1: unknown kind of operation 99"},
		{name: "outcome", ops: op(func(o *Op) { o.Outcome = 99 }), want: "x: operation 1: unknown outcome 99"},
		{name: "a literal", ops: []Op{{Process: "P1", On: "t/0", Values: []Value{{}}}}, want: "x: operation 1: send does not take from, max, an offset to go to (numbers that are not stated are None)"},
		{name: "no process", ops: op(func(o *Op) { o.Process = "" }), want: "x: operation 1: expected the name of a process"},
		{name: "no partition", ops: op(func(o *Op) { o.On = "" }), want: "x: operation 1: expected TOPIC/PARTITION"},
		{name: "time", ops: op(func(o *Op) { o.Call = -1 }), want: "x: operation 1: time of invocation -1 is negative"},
		{name: "return", ops: op(func(o *Op) { o.Call = 6 }), want: "x: operation 1: the completion at 5 is before the invocation at 6"},
		{name: "open return", ops: op(func(o *Op) { o.Outcome = Open }), want: "x: operation 1: an operation that never completed has no time"},
		{name: "no values", ops: op(func(o *Op) { o.Values = nil }), want: "x: operation 1: send needs values"},
		{name: "value", ops: op(func(o *Op) { o.Values = []Value{String("\xff")} }), want: `x: operation 1: value "\xff" is not valid UTF-8`},
		{name: "key", ops: op(func(o *Op) { o.Key = "k" }), want: "x: operation 1: key: expected an integer or a quoted string"},
		{name: "negative offset", ops: op(func(o *Op) { o.Offset = -2 }), want: "x: operation 1: offset -2 is negative"},
		{name: "foreign answer", ops: op(func(o *Op) { o.HW = 1 }), want: "x: operation 1: send => ok does not have hw"},
		{name: "with a line", ops: op(func(o *Op) { o.HW, o.Line = 1, 7 }), want: "x:7:1: send => ok does not have hw"},
		{name: "config", header: Header{Config: Config{{"a", "b"}}}, want: "x: unknown config key"},
		{name: "extension", header: Header{Config: Config{{"x-\xff", "b"}}}, want: `x: config key "x-\xff" is not valid UTF-8`},
		{name: "config twice", header: Header{Config: Config{{"acks", "1"}, {"acks", "0"}}}, want: "x: config key \"acks\" is stated twice"},
		{name: "text of two lines", marks: mark(Mark{Text: "a\nb", Offset: None}), want: "x: mark 1: nemesis: control character"},
		{name: "text with spaces", marks: mark(Mark{Text: " a", Offset: None}), want: "x: mark 1: expected a text without spaces around it"},
		{name: "mark", marks: mark(Mark{Kind: 99}), want: "x: mark 1: unknown kind of mark 99"},
		{name: "mark of a process", marks: mark(Mark{Process: "P", Text: "a", Offset: None}), want: "x: mark 1: nemesis is not the mark of a process"},
		{name: "mark without offset", marks: mark(Mark{Kind: Assigned, Process: "P", Offset: None}), want: "x: mark 1: assigned needs one place to go to"},
		{name: "mark with two", marks: mark(Mark{Kind: Reset, Process: "P", To: "latest"}), want: "x: mark 1: reset needs one place to go to"},
		{name: "crash with offset", marks: mark(Mark{Kind: Crash, Process: "P"}), want: "x: mark 1: crash has no offset"},
		{name: "crash with text", marks: mark(Mark{Kind: Crash, Process: "P", Text: "x", Offset: None}), want: "x: mark 1: crash has no text"},
		{name: "note with partition", marks: mark(Mark{Kind: Note, Process: "P", On: "t/0", Text: "x", Offset: None}), want: "x: mark 1: note has nothing but text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New("x", tt.header, tt.ops, tt.marks)
			demand(t, err, tt.want)
		})
	}
}

func parse(text string) error {
	_, err := Parse("x", []byte(text))
	return err
}

// demand demands an error of this package that begins like that.
func demand(t *testing.T, err error, prefix string) {
	t.Helper()
	demandWithin(t, err, prefix)
	if err != nil && !strings.HasPrefix(err.Error(), prefix) {
		t.Errorf("got  %v\nwant %s...", err, prefix)
	}
}

// demandWithin demands a short error of this package that contains that.
func demandWithin(t *testing.T, err error, part string) {
	t.Helper()
	var e *Error
	switch {
	case !errors.As(err, &e):
		t.Errorf("got the error %v, want %s", err, part)
	case !strings.Contains(err.Error(), part):
		t.Errorf("got  %v\nwant ...%s...", err, part)
	case len(err.Error()) > 500:
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

// TestLongGarbage gives a line of ten megabytes: an error with its place, and
// one that fits on a screen.
func TestLongGarbage(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	for _, tt := range []struct{ text, place string }{
		{"history 1\n" + long, "f:2:1:"},
		{"history 1\n1-2 P1 send \"" + long, "f:2:13:"},
		{"history 1\n1-2 P1 send 1 => ok @" + strings.Repeat("9", 10<<20), "f:2:22:"},
		{"{\"history\":1}\n" + long, "f:2:1:"},
		{"{\"history\":1}\n{\"" + long, "f:2:2:"},
		{"{\"history\":1}\n{\"time\":1,\"" + long + "\":1}", "f:2:11:"},
		{long, "f:1:1:"},
		{"{" + long, "f:1:2:"},
	} {
		_, err := Parse("f", []byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.place) || len(err.Error()) > 1000 {
			t.Errorf("%.40q: %.200v, want a short error at %s", tt.text, err, tt.place)
		}
	}
}
