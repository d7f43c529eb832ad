// Command go-oracle answers what Go itself says to questions about patterns, durations, quoting, JSON and time.
//
// It reads one JSON question a line and writes one JSON answer a line, in the same order. The first line it writes
// names its version. The test tests/go_oracle.rs builds it, asks it and compares.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"time"
	"unicode"
)

// A question about one text. Values are only asked about with a pattern.
type question struct {
	Kind   string   `json:"kind"`
	Text   []byte   `json:"text"`
	Values [][]byte `json:"values"`
}

// An answer holds what belongs to the kind of its question.
type answer struct {
	Error       string `json:"error,omitempty"`
	Matches     []bool `json:"matches,omitempty"`
	Nanoseconds string `json:"nanoseconds,omitempty"`
	Written     string `json:"written,omitempty"`
	JSON        string `json:"json,omitempty"`
	Valid       bool   `json:"valid,omitempty"`
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	questions := json.NewDecoder(input)
	answers := json.NewEncoder(output)
	version := map[string]string{"go": runtime.Version(), "unicode": unicode.Version}
	if err := answers.Encode(version); err != nil {
		fail(err)
	}
	for questions.More() {
		var asked question
		if err := questions.Decode(&asked); err != nil {
			fail(err)
		}
		if err := answers.Encode(reply(asked)); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "go-oracle:", err)
	os.Exit(1)
}

func reply(asked question) answer {
	text := string(asked.Text)
	switch asked.Kind {
	case "pattern":
		program, err := regexp.Compile(text)
		if err != nil {
			return answer{Error: err.Error()}
		}
		var matches []bool
		for _, value := range asked.Values {
			matches = append(matches, program.Match(value))
		}
		return answer{Matches: matches}
	case "duration":
		parsed, err := time.ParseDuration(text)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Nanoseconds: strconv.FormatInt(int64(parsed), 10), Written: parsed.String()}
	case "quote":
		written, err := json.Marshal(text)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Written: strconv.Quote(text), JSON: string(written)}
	case "json":
		return answer{Valid: json.Valid(asked.Text)}
	case "time":
		// UnmarshalText holds to RFC 3339; Parse is more lenient.
		var parsed time.Time
		if err := parsed.UnmarshalText(asked.Text); err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Valid: true, Nanoseconds: fmt.Sprintf("%d.%09d", parsed.Unix(), parsed.Nanosecond())}
	default:
		return answer{Error: "unknown kind " + asked.Kind}
	}
}
