import HTTPService
import Queueing
import TestSupport
import Testing

@Suite struct TokenTests {
    private func token(_ seed: UInt64 = 1) -> TokenText {
        var generator = SplitMix64(seed: seed)
        return TokenText(using: &generator)
    }

    @Test func `a token's text is read back`() throws {
        for seed in 0..<100 as Range<UInt64> {
            let token = token(seed)
            let read = try #require(TokenText(token.text))
            #expect(read.text == token.text)
            #expect(read.id == token.id)
            #expect(try read.digest() == token.digest())
        }
    }

    @Test func `a token has 65 characters that need no escaping`() {
        let text = token().text
        #expect(text.utf8.count == 65)
        #expect(text.hasPrefix("pnb_"))
        #expect(text.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz234567_".utf8.contains($0) })
    }

    @Test func `every other text is no token`() {
        let text = token().text
        let others = [
            "", "pnb_", "pnb__", "pnb_a_b", " " + text, text + " ", text.uppercased(), String(text.dropLast()),
            text + "a",
            String(text.dropFirst()), text.replacing("_", with: "-"), String(repeating: "x", count: 8000),
            // The last character has one bit of the secret. The others have to be zero.
            text.dropLast() + "b", text.dropLast() + "7", "pnb_\u{e9}" + text.dropFirst(6),
        ]
        for other in others where other != text { #expect(TokenText(other) == nil, "\(other)") }
    }

    @Test func `a token in a log shows no secret`() { #expect("\(token())" == "pnb_\(token().id)_…") }

    @Test func `secrets differ and so do their digests`() throws {
        let digests = try (0..<50).map { try token($0).digest() }
        #expect(Set(digests).count == 50)
    }

    /// FIPS 180-4's example, and the values of RFC 4648.
    @Test func `digests and texts are the standard ones`() throws {
        let abc = try SecretDigest(of: Array("abc".utf8))
        #expect(abc.bytes.prefix(4) == [0xba, 0x78, 0x16, 0xbf])
        #expect(SecretDigest(bytes: abc.bytes) == abc)
        #expect(SecretDigest(bytes: []) == nil)
        for (plain, encoded) in [("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foobar", "mzxw6ytboi")] {
            #expect(Base32.encode(Array(plain.utf8)) == encoded)
            #expect(Base32.decode(encoded[...]) == Array(plain.utf8))
        }
        for odd in ["mz1", "m", "mzx", "MY", "mz="] { #expect(Base32.decode(odd[...]) == nil, "\(odd)") }
    }

    @Test func `a token is valid until it expires or is revoked`() throws {
        let noon = WallTime(seconds: 1000)
        let digest = try token().digest()
        let record = TokenRecord(digest: digest, name: "anna", scope: .read, expires: noon)
        #expect(record.isValid(at: WallTime(seconds: 999)))
        #expect(!record.isValid(at: noon))
        #expect(!TokenRecord(digest: digest, name: "anna", scope: .read, isRevoked: true).isValid(at: noon))
    }

    @Test func `a session's cookie is read back, and others are none`() throws {
        var generator = SplitMix64(seed: 3)
        let secret = SessionSecret(using: &generator)
        for isSecure in [false, true] {
            let cookie = SessionCookie(service: "", isSecure: isSecure)
            let header = cookie.header(for: secret, lifetime: .seconds(3600))
            let pair = String(header.prefix { $0 != ";" })
            #expect(cookie.secrets(in: ["Cookie": "theme=dark; \(pair); x=y"]).map(\.text) == [secret.text])
            #expect(header.hasSuffix(isSecure ? "; SameSite=Strict; Secure" : "; SameSite=Strict"))
            #expect(header.contains("; Path=/; Max-Age=3600; HttpOnly"))
            #expect(SessionCookie(service: "", isSecure: !isSecure).secrets(in: ["Cookie": pair]).isEmpty)
        }
        let cookie = SessionCookie(service: "", isSecure: false)
        #expect(cookie.secrets(in: ["Cookie": "penumbra=; xpenumbra=\(secret.text)"]).isEmpty)
        #expect(cookie.removal == "penumbra=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
    }

    @Test func `cookies of one name are read in their order, and at most four of them`() {
        var generator = SplitMix64(seed: 5)
        let texts = (0..<6).map { _ in SessionSecret(using: &generator).text }
        let cookie = SessionCookie(service: "", isSecure: false)
        #expect(
            cookie.secrets(in: ["Cookie": "penumbra=\(texts[0]); penumbra=odd; penumbra=\(texts[1])"]).map(\.text)
                == Array(texts[..<2]))
        let many = texts.map { "penumbra=\($0)" }.joined(separator: "; ")
        #expect(cookie.secrets(in: ["Cookie": many]).map(\.text) == Array(texts[..<4]))
    }

    @Test(arguments: [
        ("", false, "penumbra"), ("", true, "__Host-penumbra"), ("1a2b", false, "penumbra-1a2b"),
        ("1a2b", true, "__Host-penumbra-1a2b"),
    ])
    func `a cookie's name has the ID of the service, so that services of one host do not share it`(
        service: String, isSecure: Bool, name: String
    ) throws {
        let cookie = SessionCookie(service: service, isSecure: isSecure)
        #expect(cookie.name == name)
        var generator = SplitMix64(seed: 4)
        let pair = String(
            cookie.header(for: SessionSecret(using: &generator), lifetime: .seconds(1)).prefix { $0 != ";" })
        #expect(cookie.secrets(in: ["Cookie": pair]).count == 1)
        #expect(SessionCookie(service: "other", isSecure: isSecure).secrets(in: ["Cookie": pair]).isEmpty)
        #expect(SessionCookie(service: "other", isSecure: isSecure).removal.hasPrefix(cookie.name + "=") == false)
    }
}
