// A second implementation of the handshakes of docs/protocol.md, with the primitives of Go: one side of a session over stdin and stdout.
//
// A line on stdin is JSON: the side, the pattern (IK or IKhfs), whether this side marks its key, the prologue and the keys in hex. After it
// both directions carry frames: two bytes of length, then the message. Behind the handshake it sends one message, "from go", and echoes the
// first that it reads; the handshake's hash goes to stderr.
package main

import (
	"bufio"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/mlkem"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"golang.org/x/crypto/blake2s"
	"golang.org/x/crypto/chacha20poly1305"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func newHash() hash.Hash { return must(blake2s.New256(nil)) }

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(newHash, key)
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)
}

// hkdf gives two outputs.
func hkdf(chainingKey, secret []byte) ([]byte, []byte) {
	key := mac(chainingKey, secret)
	first := mac(key, []byte{1})
	return first, mac(key, first, []byte{2})
}

type cipherState struct {
	aead cipher.AEAD
	n    uint64
}

func newCipher(key []byte) *cipherState { return &cipherState{aead: must(chacha20poly1305.New(key))} }

func (c *cipherState) nonce() []byte {
	nonce := make([]byte, 12)
	binary.LittleEndian.PutUint64(nonce[4:], c.n)
	c.n++
	return nonce
}

func (c *cipherState) seal(ad, text []byte) []byte { return c.aead.Seal(nil, c.nonce(), text, ad) }

func (c *cipherState) open(ad, text []byte) []byte { return must(c.aead.Open(nil, c.nonce(), text, ad)) }

// side is one side of a handshake.
type side struct {
	h, ck      []byte
	cipher     *cipherState
	s, e       *ecdh.PrivateKey
	rs, re     *ecdh.PublicKey
	kem        *mlkem.DecapsulationKey768
	theirKem   []byte
	out, in    []byte
	isFirst    bool
	hasMark    bool
	peerMarked bool
}

func (x *side) mixHash(data []byte) {
	h := newHash()
	h.Write(x.h)
	h.Write(data)
	x.h = h.Sum(nil)
}

func (x *side) mixKey(secret []byte) {
	var key []byte
	x.ck, key = hkdf(x.ck, secret)
	x.cipher = newCipher(key)
}

func (x *side) send(text []byte) {
	if x.cipher != nil {
		text = x.cipher.seal(x.h, text)
	}
	x.mixHash(text)
	x.out = append(x.out, text...)
}

func (x *side) receive(length int) []byte {
	if x.cipher != nil {
		length += 16
	}
	if len(x.in) < length {
		must(0, errors.New("the message is too short"))
	}
	part := x.in[:length]
	x.in = x.in[length:]
	text := part
	if x.cipher != nil {
		text = x.cipher.open(x.h, part)
	}
	x.mixHash(part)
	return text
}

// agree mixes a Diffie-Hellman result. The first letter names the initiator's key.
func (x *side) agree(token string) {
	own, theirs := token[0], token[1]
	if !x.isFirst {
		own, theirs = theirs, own
	}
	private, public := x.e, x.re
	if own == 's' {
		private = x.s
	}
	if theirs == 's' {
		public = x.rs
	}
	x.mixKey(must(private.ECDH(public)))
}

func (x *side) write(tokens []string) []byte {
	x.out = nil
	for _, token := range tokens {
		switch token {
		case "e":
			public := append([]byte{}, x.e.PublicKey().Bytes()...)
			if x.hasMark {
				public[31] |= 0x80
			}
			x.out = append(x.out, public...)
			x.mixHash(public)
		case "s":
			x.send(x.s.PublicKey().Bytes())
		case "e1":
			x.kem = must(mlkem.GenerateKey768())
			x.send(x.kem.EncapsulationKey().Bytes())
		case "ekem1":
			shared, ciphertext := must(mlkem.NewEncapsulationKey768(x.theirKem)).Encapsulate()
			x.send(ciphertext)
			x.mixKey(shared)
		default:
			x.agree(token)
		}
	}
	x.send(nil)
	return x.out
}

func (x *side) read(tokens []string, message []byte) {
	x.in = message
	for _, token := range tokens {
		switch token {
		case "e":
			x.re = must(ecdh.X25519().NewPublicKey(x.in[:32]))
			x.peerMarked = x.in[31]&0x80 != 0
			x.mixHash(x.in[:32])
			x.in = x.in[32:]
		case "s":
			x.rs = must(ecdh.X25519().NewPublicKey(x.receive(32)))
		case "e1":
			x.theirKem = x.receive(mlkem.EncapsulationKeySize768)
		case "ekem1":
			x.mixKey(must(x.kem.Decapsulate(x.receive(mlkem.CiphertextSize768))))
		default:
			x.agree(token)
		}
	}
	x.receive(len(x.in) - 16)
}

type request struct{ Side, Pattern, Prologue, Static, Remote string; Marks bool }

func bytesOf(text string) []byte { return must(hex.DecodeString(text)) }

func main() {
	reader := bufio.NewReader(os.Stdin)
	var asked request
	must(0, json.Unmarshal(must(reader.ReadBytes('\n')), &asked))
	name, messages := "Noise_IK_25519_ChaChaPoly_BLAKE2s", [][]string{{"e", "es", "s", "ss"}, {"e", "ee", "se"}}
	if asked.Pattern == "IKhfs" {
		name = "Noise_IKhfs_25519+MLKEM768_ChaChaPoly_BLAKE2s"
		messages = [][]string{{"e", "es", "e1", "s", "ss"}, {"e", "ee", "ekem1", "se"}}
	}
	x := &side{isFirst: asked.Side == "initiator", hasMark: asked.Marks, h: []byte(name)}
	if len(x.h) > 32 {
		sum := blake2s.Sum256(x.h)
		x.h = sum[:]
	} else {
		x.h = append(x.h, make([]byte, 32-len(x.h))...)
	}
	x.ck = x.h
	x.s = must(ecdh.X25519().NewPrivateKey(bytesOf(asked.Static)))
	x.e = must(ecdh.X25519().GenerateKey(rand.Reader))
	x.mixHash(bytesOf(asked.Prologue))
	if x.isFirst {
		x.rs = must(ecdh.X25519().NewPublicKey(bytesOf(asked.Remote)))
		x.mixHash(x.rs.Bytes())
	} else {
		x.mixHash(x.s.PublicKey().Bytes())
	}
	frame := func(message []byte) {
		must(os.Stdout.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)))
	}
	next := func() []byte {
		length := make([]byte, 2)
		must(io.ReadFull(reader, length))
		message := make([]byte, binary.BigEndian.Uint16(length))
		must(io.ReadFull(reader, message))
		return message
	}
	for index := 0; index < len(messages); index++ {
		message := []byte(nil)
		isMine := (index%2 == 0) == x.isFirst
		if !isMine {
			message = next()
			x.peerMarked = index < 2 && message[31]&0x80 != 0
		}
		if len(messages) == 2 && x.hasMark && x.peerMarked && asked.Pattern == "IK" {
			messages = [][]string{messages[0], append(messages[1], "e1"), {"ekem1"}}
		}
		if isMine {
			frame(x.write(messages[index]))
		} else {
			x.read(messages[index], message)
		}
	}
	first, second := hkdf(x.ck, nil)
	sending, receiving := newCipher(first), newCipher(second)
	if !x.isFirst {
		sending, receiving = receiving, sending
	}
	fmt.Fprintf(os.Stderr, "%s %s\n", hex.EncodeToString(x.h), hex.EncodeToString(x.rs.Bytes()))
	frame(sending.seal(nil, []byte("from go")))
	frame(sending.seal(nil, receiving.open(nil, next())))
}
