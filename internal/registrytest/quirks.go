package registrytest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cuelabs.dev/go/oci/ociregistry"
)

// Quirks are lasting oddities of registries in the field, each of which a
// client has to live with; for faults that come and go there is [Rule].
type Quirks struct {
	// Lists of tags.
	PageSize    int                 `json:"page_size,omitempty"`     // tags in a page at most, whatever was asked for; 0: as asked
	MaxPageSize int                 `json:"max_page_size,omitempty"` // an n above it is an error, as ECR has it
	Link        string              `json:"link,omitempty"`          // how the next page is named: a key of Links, or a template as its values are
	Opaque      bool                `json:"opaque,omitempty"`        // pages go by next_page=…, which tells a client nothing, in place of last=TAG
	EmptyPage   int                 `json:"empty_page,omitempty"`    // the number of a page that has no tags though more follow; 1 is the first
	Order       string              `json:"order,omitempty"`         // "shuffled" or "reversed"; by default lexical
	TagLists    map[string][]string `json:"tag_lists,omitempty"`     // by repository: these tags in this order, there or not
	NullTags    bool                `json:"null_tags,omitempty"`     // an empty list is null

	// Documents and blobs.
	HTML         []string `json:"html,omitempty"`          // patterns of paths that answer 200 and a page to log in at
	ManifestType string   `json:"manifest_type,omitempty"` // the Content-Type of every document
	NoDigest     bool     `json:"no_digest,omitempty"`     // no Docker-Content-Digest
	NoHead       bool     `json:"no_head,omitempty"`       // 405 for HEAD
	NoRange      bool     `json:"no_range,omitempty"`      // 200 and the whole blob for a Range
}

// Links are the forms of the Link header by name. {next} stands for the query
// of the next page, {n} for the page size, {path}, {host} and {scheme} for what
// the client used.
var Links = map[string]string{
	"relative": `<{path}?{next}>; rel="next"`,
	"absolute": `<{scheme}://{host}{path}?{next}>; rel="next"`,
	"unquoted": `<{path}?{next}>; rel=next`,
	"query":    `<?{next}>; rel="next"`,
	"several":  `<{path}?n={n}>; rel="prev"; title="a, <b>", <{path}?{next}>; rel="next"`,
	"prefixed": `</artifactory/api/docker/local{path}?{next}>; rel="next"`, // an inner path that a reverse proxy hides
	"foreign":  `<http://registry.invalid{path}?{next}>; rel="next"`,
	"loop":     `<{path}?n={n}>; rel="next"`,
	"prev":     `<{path}?n={n}>; rel="prev"`, // the only page, as a careful client reads it
	"none":     ``,
}

const loginPage = "<!DOCTYPE html>\n<html><head><title>Log in</title></head><body><form action=\"/login\"></form></body></html>\n"

func (q Quirks) check() error {
	if _, known := Links[q.Link]; q.Link != "" && !known && !strings.Contains(q.Link, "{") {
		return fmt.Errorf("quirk link: %q is none of %v and no template", q.Link, slices.Sorted(maps.Keys(Links)))
	}
	if !slices.Contains([]string{"", "shuffled", "reversed"}, q.Order) {
		return fmt.Errorf("quirk order: %q is neither shuffled nor reversed", q.Order)
	}
	return nil
}

// wrap puts the quirks before next, which serves backend.
func (q Quirks) wrap(backend ociregistry.Interface, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		repository, isList := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v2/"), "/tags/list")
		switch {
		case slices.ContainsFunc(q.HTML, func(pattern string) bool { return Match(pattern, r.URL.Path) }):
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(loginPage)) // the client may have gone
		case q.NoHead && r.Method == http.MethodHead:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case isList && r.Method == http.MethodGet:
			q.serveTags(w, r, backend, repository)
		default:
			q.rule(r).pass(w, r, next)
		}
	})
}

// rule says by a [Rule] what changes in the answer to r.
func (q Quirks) rule(r *http.Request) *Rule {
	rule := &Rule{}
	if q.NoDigest {
		rule.Drop = append(rule.Drop, "Docker-Content-Digest")
	}
	if q.ManifestType != "" && strings.Contains(r.URL.Path, "/manifests/") && r.Method == http.MethodGet {
		rule.Header = map[string]string{"Content-Type": q.ManifestType}
	}
	if q.NoRange {
		rule.Range = RangeIgnore
	}
	return rule
}

// serveTags answers a list of tags in all its forms.
func (q Quirks) serveTags(w http.ResponseWriter, r *http.Request, backend ociregistry.Interface, repository string) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n")) // 0 where there is none
	if q.MaxPageSize > 0 && n > q.MaxPageSize {
		_ = ociregistry.WriteError(w, ociregistry.NewError(fmt.Sprintf("n=%d is more than %d", n, q.MaxPageSize), ociregistry.ErrUnsupported.Code(), nil))
		return
	}
	tags, err := q.tags(r, backend, repository)
	if err != nil {
		_ = ociregistry.WriteError(w, err)
		return
	}
	size := n
	if q.PageSize > 0 && (n == 0 || n > q.PageSize) {
		size = q.PageSize
	}
	start := min(q.start(r.URL.Query(), tags), len(tags))
	end := len(tags)
	if size > 0 {
		end = min(start+size, end)
	}
	page := tags[start:end]
	if q.EmptyPage > 0 && size > 0 && start == (q.EmptyPage-1)*size && !r.URL.Query().Has("again") {
		page, end = nil, start
	}
	if end < len(tags) || q.Link == "loop" {
		if link := q.link(r, size, start, end, tags); link != "" {
			w.Header().Set("Link", link)
		}
	}
	if page == nil && !q.NullTags {
		page = []string{}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": repository, "tags": page}) // the client may have gone
}

func (q Quirks) tags(r *http.Request, backend ociregistry.Interface, repository string) ([]string, error) {
	if list, ok := q.TagLists[repository]; ok {
		return list, nil
	}
	var tags []string
	for tag, err := range backend.Tags(r.Context(), repository, "") {
		if err != nil {
			return nil, err
		}
		tags = append(tags, tag)
	}
	switch q.Order {
	case "reversed":
		slices.Reverse(tags)
	case "shuffled":
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
	}
	return tags, nil
}

// start is the index of the first tag of the page that a query asks for.
func (q Quirks) start(query url.Values, tags []string) int {
	if q.Opaque {
		plain, err := base64.StdEncoding.DecodeString(query.Get("next_page"))
		start, _ := strconv.Atoi(strings.TrimPrefix(string(plain), "offset:"))
		if err != nil {
			return 0
		}
		return start
	}
	if !query.Has("last") {
		return 0
	}
	return slices.Index(tags, query.Get("last")) + 1
}

func (q Quirks) link(r *http.Request, size, start, end int, tags []string) string {
	next := url.Values{}
	switch {
	case q.Opaque:
		next.Set("next_page", base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "offset:%d", end)))
	case end > 0:
		next.Set("last", tags[end-1])
	}
	if size > 0 {
		next.Set("n", strconv.Itoa(size))
	}
	if start == end { // the empty page: what follows starts where it did
		next.Set("again", "1")
	}
	form := q.Link
	if form == "" {
		form = "relative"
	}
	template, named := Links[form]
	if !named {
		template = form
	}
	return expand(strings.NewReplacer("{next}", next.Encode(), "{n}", strconv.Itoa(size)).Replace(template), r)
}
