package getter

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Bounds of a list of tags. Registries page at 50 to 10,000 tags; a list that
// is longer than these is a fault.
const (
	maxTagBytes   = 64 << 20 // of all pages
	maxTagPages   = 10_000
	maxEmptyPages = 20 // in a row without a tag that is new
)

// tags follows the pages of a list to its end. No page size is asked for: the
// registry's own is the one that needs the fewest requests.
func (r *remote) tags(ctx context.Context) ([]string, error) {
	list := tagList{seen: map[string]bool{}, visited: map[string]bool{}}
	next := r.url("tags", "list")
	for next != nil {
		if err := list.visit(next); err != nil {
			return nil, err
		}
		p, err := r.get(ctx, next, "application/json", maxTagBytes-list.bytes, refusedTags)
		if err != nil {
			return nil, err
		}
		if p.looksLikeHTML() {
			return nil, r.htmlError()
		}
		if err := list.add(p); err != nil {
			return nil, err
		}
		if next, err = nextPage(r.url("tags", "list"), next, p.link); err != nil {
			return nil, err
		}
	}
	return list.tags, nil
}

// tagList gathers pages.
type tagList struct {
	tags    []string
	seen    map[string]bool
	visited map[string]bool
	bytes   int64
	barren  int // pages in a row that brought nothing new
}

// visit refuses to go in circles.
func (l *tagList) visit(u *url.URL) error {
	at := u.RequestURI()
	if l.visited[at] || len(l.visited) >= maxTagPages {
		return fail(ErrProtocol, u.Host, "%s pages its list of tags in circles (after %d pages)", u.Host, len(l.visited))
	}
	l.visited[at] = true
	return nil
}

// add takes the tags of a page.
func (l *tagList) add(p *page) error {
	var body struct {
		Name   *string         `json:"name"`
		Tags   []string        `json:"tags"`
		Errors json.RawMessage `json:"errors"`
	}
	if err := json.Unmarshal(p.raw, &body); err != nil {
		return &Error{Kind: ErrProtocol, Host: p.url.Host, Err: err,
			Detail: fmt.Sprintf("%s answered with something other than a list of tags", p.url.Host)}
	}
	if body.Name == nil && body.Tags == nil || body.Errors != nil {
		return fail(ErrProtocol, p.url.Host, "%s answered 200 with JSON that is no list of tags", p.url.Host)
	}
	l.bytes += int64(len(p.raw))
	before := len(l.tags)
	for _, tag := range body.Tags {
		if !l.seen[tag] && IsTag(tag) {
			l.seen[tag] = true
			l.tags = append(l.tags, tag)
		}
	}
	if l.barren++; len(l.tags) > before {
		l.barren = 0
	}
	if l.barren > maxEmptyPages {
		return fail(ErrProtocol, p.url.Host, "%s answered with %d pages of tags in a row without one that is new", p.url.Host, l.barren)
	}
	return nil
}

// refusedTags says what an answer other than 200 means for a list of tags.
func refusedTags(a answer) *Error {
	switch {
	case a.status == http.StatusMethodNotAllowed, a.status == http.StatusNotImplemented, a.has("UNSUPPORTED"):
		e := a.error(ErrTagsUnsupported)
		e.Detail += ": the registry does not list tags"
		return e
	case a.status == http.StatusNotFound && a.has("NAME_UNKNOWN"):
		e := a.error(ErrRepositoryNotFound)
		e.Detail += ": there is no such repository, or it is not shown without credentials"
		return e
	case a.status == http.StatusNotFound:
		e := a.error(ErrRepositoryNotFound)
		e.Detail += ": there is no such repository, or the registry does not list tags"
		return e
	}
	return a.error(kindOfStatus(a.status))
}
