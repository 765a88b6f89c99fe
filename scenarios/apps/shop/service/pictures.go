package main

import (
	"context"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Pictures are kept unpacked, a mebibyte each, ready to be sent in whatever form is asked for.
const pictureSide = 512

// Between two pictures, so that requests needn't wait.
const pictureBreak = 200 * time.Millisecond

// pictures are drawings of each product in several colours.
type pictures struct {
	each  int
	mutex sync.RWMutex
	drawn map[string][]*image.RGBA
}

func newPictures(each int) *pictures { return &pictures{each: each, drawn: map[string][]*image.RGBA{}} }

// draw makes all pictures of these products, one after the other, until ctx ends.
func (p *pictures) draw(ctx context.Context, products []product) {
	for number := range p.each {
		for _, each := range products {
			drawing := drawingOf(each, number)
			p.mutex.Lock()
			p.drawn[each.ID] = append(p.drawn[each.ID], drawing)
			p.mutex.Unlock()
			if !pause(ctx, pictureBreak) {
				return
			}
		}
	}
}

// drawingOf is a pattern of circles whose width and colour come from the product.
func drawingOf(what product, number int) *image.RGBA {
	sum := fnv.New32a()
	sum.Write([]byte(what.ID + strconv.Itoa(number)))
	seed := sum.Sum32()
	width := int(seed%7)*300 + 900
	ink := color.RGBA{R: uint8(seed), G: uint8(seed >> 8), B: uint8(seed >> 16), A: 255}
	paper := color.RGBA{R: 250, G: 250, B: 245, A: 255}
	drawing := image.NewRGBA(image.Rect(0, 0, pictureSide, pictureSide))
	for y := range pictureSide {
		for x := range pictureSide {
			dx, dy := x-pictureSide/2, y-pictureSide/2
			if (dx*dx+dy*dy)/width%2 == 0 {
				drawing.SetRGBA(x, y, ink)
			} else {
				drawing.SetRGBA(x, y, paper)
			}
		}
	}
	return drawing
}

// ServeHTTP sends a picture as PNG: the first is number 1.
func (p *pictures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.PathValue("number"))
	p.mutex.RLock()
	drawn := p.drawn[r.PathValue("id")]
	p.mutex.RUnlock()
	if err != nil || number < 1 || number > len(drawn) {
		http.Error(w, "there is no such picture", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	// The caller may be gone; its loss shows in its own logs.
	_ = png.Encode(w, drawn[number-1])
}
