package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// decodeExact reads JSON and keeps numbers as they are written.
func decodeExact(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("something follows the value")
	}
	return nil
}

// differences lists where two JSON values differ, by path.
func differences(path string, want, is any) []string {
	switch w := want.(type) {
	case map[string]any:
		if i, ok := is.(map[string]any); ok {
			return objectDifferences(path, w, i)
		}
	case []any:
		if i, ok := is.([]any); ok && (len(i) == len(w) || hasObjects(w)) {
			return listDifferences(path, w, i)
		}
	default:
		if want == is {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: want %s, is %s", path, short(want), short(is))}
}

func objectDifferences(path string, want, is map[string]any) []string {
	keys := map[string]bool{}
	for key := range want {
		keys[key] = true
	}
	for key := range is {
		keys[key] = true
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		w, wanted := want[key]
		i, there := is[key]
		switch {
		case !there:
			out = append(out, fmt.Sprintf("%s.%s: want %s, is missing", path, key, short(w)))
		case !wanted:
			out = append(out, fmt.Sprintf("%s.%s: want nothing, is %s", path, key, short(i)))
		default:
			out = append(out, differences(path+"."+key, w, i)...)
		}
	}
	return out
}

func listDifferences(path string, want, is []any) []string {
	var out []string
	for n := range max(len(want), len(is)) {
		switch {
		case n >= len(is):
			out = append(out, fmt.Sprintf("%s[%d]: want %s, is missing", path, n, short(want[n])))
		case n >= len(want):
			out = append(out, fmt.Sprintf("%s[%d]: want nothing, is %s", path, n, short(is[n])))
		default:
			out = append(out, differences(fmt.Sprintf("%s[%d]%s", path, n, title(want[n])), want[n], is[n])...)
		}
	}
	return out
}

func hasObjects(list []any) bool {
	return len(list) > 0 && title(list[0]) != ""
}

// title is the name of what a list holds at a place.
func title(value any) string {
	object, ok := value.(map[string]any)
	if !ok {
		return ""
	}
	for _, key := range []string{"pod", "plugin", "name"} {
		if name, ok := object[key].(string); ok {
			return "(" + name + ")"
		}
	}
	return ""
}

// short writes a value on one line that can be read.
func short(value any) string {
	const width = 300
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err.Error()
	}
	text := strings.TrimSpace(out.String())
	if len(text) > width {
		text = strings.ToValidUTF8(text[:width], "") + "..."
	}
	return text
}
