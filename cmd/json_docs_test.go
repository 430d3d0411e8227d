package cmd

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documentsByRow are the types of the documents that each row of docs/json.md
// is about. A nested type that has a row of its own is left to that.
var documentsByRow = map[string]any{
	"`init`, `update`, `lock`":        resultDocument{},
	"`list`, `verify`":                listDocument{},
	"`outdated`":                      outdatedDocument{},
	"`which`":                         whichDocument{},
	"`inspect NAME`":                  explanationDocument{},
	"`inspect` of a source or layout": inspectionDocument{},
	"`package`":                       packedDocument{},
	"`push`, `tag`":                   pushedDocument{},
	"`login`, `logout`":               loginDocument{},
	"`prune`":                         pruneDocument{},
	"`env`":                           envDocument{},
	"`version`":                       programDocument{},
	"a plugin":                        pluginDocument{},
	"a change of the lock file":       changeDocument{},
	"an error or warning":             problemDocument{},
	"an image":                        imageDocument{},
}

// Every key of every document is on the page, in its row, and no other.
func TestJSONPage(t *testing.T) {
	page, err := os.ReadFile("../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (.+?) \| (.+) \|$`).FindAllStringSubmatch(string(page), -1)
	seen := 0
	for _, row := range rows {
		document, ok := documentsByRow[row[1]]
		if !ok {
			if strings.Contains(row[2], "`") {
				t.Errorf("row %s is about no document that this test knows", row[1])
			}
			continue
		}
		seen++
		got := words(row[2])
		want := keys(reflect.TypeOf(document), true)
		for _, key := range want {
			if !slices.Contains(got, key) {
				t.Errorf("row %s lacks the key %s", row[1], key)
			}
		}
		for _, word := range got {
			// A row may name a key of a row of its own, or what prints the same.
			if !slices.Contains(want, word) && !slices.Contains([]string{"action", "status", "package"}, word) {
				t.Errorf("row %s has %s, which is no key of the document", row[1], word)
			}
		}
	}
	if seen != len(documentsByRow) {
		t.Errorf("%d of %d documents have a row", seen, len(documentsByRow))
	}
}

func words(cell string) (found []string) {
	for _, match := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cell, -1) {
		found = append(found, match[1])
	}
	return found
}

// keys lists the keys of a document and of what is in it, as far as that has no
// row of its own.
func keys(of reflect.Type, top bool) (found []string) {
	for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || !top && hasRow(of) {
		return nil
	}
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Anonymous {
			found = append(found, keys(field.Type, false)...)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		found = append(append(found, name), keys(field.Type, false)...)
	}
	return found
}

func hasRow(of reflect.Type) bool {
	for _, document := range documentsByRow {
		if reflect.TypeOf(document) == of {
			return true
		}
	}
	return false
}
