package edgedelay

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// line is a delay at work.
type line struct {
	delay   Delay
	random  *rand.Rand
	delayed atomic.Uint64
}

func newLine(delay Delay, before uint64) *line {
	made := &line{delay: delay, random: rand.New(rand.NewPCG(delay.Seed, delay.Seed))}
	made.delayed.Store(before)
	return made
}

func (l *line) draw() time.Duration {
	late := l.delay.Delay
	if l.delay.Jitter > 0 {
		late += time.Duration(l.random.Int64N(2*int64(l.delay.Jitter)+1)) - l.delay.Jitter
	}
	return late
}

// waiting is a packet that the kernel keeps until its time has come.
type waiting struct {
	id    uint32
	until time.Time
	order uint64
	flow  Flow
	lines []*line
}

type heapOfWaiting []waiting

func (h heapOfWaiting) Len() int      { return len(h) }
func (h heapOfWaiting) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heapOfWaiting) Push(one any) { *h = append(*h, one.(waiting)) }
func (h heapOfWaiting) Less(i, j int) bool {
	if h[i].until.Equal(h[j].until) {
		return h[i].order < h[j].order
	}
	return h[i].until.Before(h[j].until)
}

func (h *heapOfWaiting) Pop() any {
	last := len(*h) - 1
	one := (*h)[last]
	*h = (*h)[:last]
	return one
}

// schedule gives packets back in time. Packets of one connection never overtake each other.
type schedule struct {
	release func(id uint32)

	mutex sync.Mutex
	lines map[Edge][]*line
	held  heapOfWaiting
	last  map[Flow]time.Time
	count uint64
	wake  chan struct{}
}

func newSchedule(release func(id uint32)) *schedule {
	return &schedule{release: release, last: map[Flow]time.Time{}, wake: make(chan struct{}, 1)}
}

// set says which packets are late from now on. Those that wait already go when they would have gone.
func (s *schedule) set(lines map[Edge][]*line) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.lines = lines
}

// take holds a packet, or lets it go at once where nothing is known of it (any more). Several delays add up.
func (s *schedule) take(id uint32, flow Flow, now time.Time) {
	s.mutex.Lock()
	var lines []*line
	exact := Edge{flow.Source.Addr(), flow.Destination.Addr(), flow.Destination.Port()}
	for _, edge := range [...]Edge{exact, {exact.Source, exact.Destination, 0}} {
		lines = append(lines, s.lines[edge]...)
	}
	if len(lines) == 0 {
		s.mutex.Unlock()
		s.release(id)
		return
	}
	until := now
	for _, each := range lines {
		until = until.Add(each.draw())
	}
	if last := s.last[flow]; until.Before(last) {
		until = last
	}
	s.last[flow] = until
	s.count++
	heap.Push(&s.held, waiting{id, until, s.count, flow, lines})
	first := s.held[0].order == s.count
	s.mutex.Unlock()
	if first {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// due takes out what may go by now, in order, and says when the next one may; the zero time if there is none.
func (s *schedule) due(now time.Time) ([]waiting, time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var ready []waiting
	for len(s.held) > 0 {
		if s.held[0].until.After(now) {
			return ready, s.held[0].until
		}
		one := heap.Pop(&s.held).(waiting)
		if s.last[one.flow].Equal(one.until) {
			delete(s.last, one.flow)
		}
		ready = append(ready, one)
	}
	return ready, time.Time{}
}

// run releases packets until ctx ends.
func (s *schedule) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		ready, next := s.due(time.Now())
		for _, one := range ready {
			s.release(one.id)
			for _, each := range one.lines {
				each.delayed.Add(1)
			}
		}
		if next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
	}
}
