package edgedelay

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/florianl/go-nfqueue/v2"
	"github.com/mdlayher/netlink"
)

const (
	// headers is as much of a packet as is looked at: the largest headers of IPv4 and TCP are 120 bytes together.
	headers = 128
	// room is for how many packets: a connection that never stops sends no more than this in the longest delay.
	room = 1 << 16

	protocolTCP = 6
)

// Flow is one direction of a connection.
type Flow struct{ Source, Destination netip.AddrPort }

// parse reads the addresses and ports off an IPv4 packet of TCP.
func parse(packet []byte) (Flow, bool) {
	if len(packet) < 20 || packet[0]>>4 != 4 || packet[9] != protocolTCP {
		return Flow{}, false
	}
	length := int(packet[0]&0xf) * 4
	if length < 20 || len(packet) < length+4 {
		return Flow{}, false
	}
	source, destination := netip.AddrFrom4([4]byte(packet[12:16])), netip.AddrFrom4([4]byte(packet[16:20]))
	return Flow{
		netip.AddrPortFrom(source, binary.BigEndian.Uint16(packet[length:])),
		netip.AddrPortFrom(destination, binary.BigEndian.Uint16(packet[length+2:])),
	}, true
}

// listen has the kernel hand over packets until ctx ends; they go back by way of the schedule.
func listen(ctx context.Context) (*schedule, error) {
	queue, err := nfqueue.Open(&nfqueue.Config{
		NfQueue:      Queue,
		AfFamily:     2, // IPv4
		Copymode:     nfqueue.NfQnlCopyPacket,
		MaxPacketLen: headers,
		MaxQueueLen:  room,
		// Large packets stay whole, and what finds no room passes at once.
		Flags: nfqueue.NfQaCfgFlagFailOpen | nfqueue.NfQaCfgFlagGSO,
	})
	if err != nil {
		return nil, fmt.Errorf("the kernel's packet queue can't be opened: %w", err)
	}
	if err := queue.SetOption(netlink.NoENOBUFS, true); err != nil {
		_ = queue.Close()
		return nil, fmt.Errorf("the kernel's packet queue can't be set up: %w", err)
	}
	made := newSchedule(func(id uint32) {
		// The only thing that goes wrong here is the end of the queue, and then the packet is gone with it.
		_ = queue.SetVerdict(id, nfqueue.NfAccept)
	})
	received := func(packet nfqueue.Attribute) int {
		switch {
		case packet.PacketID == nil:
		case packet.Payload == nil:
			made.release(*packet.PacketID)
		default:
			// What can't be read is in no table, and passes.
			flow, _ := parse(*packet.Payload)
			made.take(*packet.PacketID, flow, time.Now())
		}
		return 0
	}
	failed := func(error) int {
		if ctx.Err() != nil {
			return 1
		}
		return 0
	}
	if err := queue.RegisterWithErrorFunc(ctx, received, failed); err != nil {
		_ = queue.Close()
		return nil, fmt.Errorf("the kernel's packet queue can't be opened: %w", err)
	}
	go made.run(ctx)
	return made, nil
}

// Apply has iptables put the rules for the edges in force, and leave nothing behind where there are none.
func Apply(ctx context.Context, edges []Edge) error {
	jump := []string{"FORWARD", "-j", Chain}
	if len(edges) == 0 {
		if !holds(ctx, "-S", Chain) {
			return nil
		}
		commands := [][]string{{"-F", Chain}, {"-X", Chain}}
		if holds(ctx, append([]string{"-C"}, jump...)...) {
			commands = append([][]string{append([]string{"-D"}, jump...)}, commands...)
		}
		for _, words := range commands {
			if err := iptables(ctx, words...); err != nil {
				return err
			}
		}
		return nil
	}
	command := exec.CommandContext(ctx, "iptables-restore", "--noflush", "--wait")
	command.Stdin = strings.NewReader(Rules(edges))
	if err := run(command); err != nil {
		return err
	}
	if holds(ctx, append([]string{"-C"}, jump...)...) {
		return nil
	}
	return iptables(ctx, append([]string{"-A"}, jump...)...)
}

func holds(ctx context.Context, words ...string) bool { return iptables(ctx, words...) == nil }

func iptables(ctx context.Context, words ...string) error {
	return run(exec.CommandContext(ctx, "iptables", append([]string{"--wait", "--table", "mangle"}, words...)...))
}

func run(command *exec.Cmd) error {
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, strings.TrimSpace(string(said)))
	}
	return nil
}
