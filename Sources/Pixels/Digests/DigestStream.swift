import CXXHash
package import JobModel

/// Computes one XXH3-128 digest of bytes that come piece by piece; the digest does not depend on where they are cut.
package struct DigestStream: ~Copyable {
    private let state: OpaquePointer  // owned: made in init, freed in deinit

    package init() {
        guard let state = XXH3_createState() else { preconditionFailure("no memory for 576 bytes") }
        XXH3_128bits_reset(state)
        self.state = state
    }

    deinit { XXH3_freeState(state) }

    package mutating func update(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { _ = XXH3_128bits_update(state, $0.baseAddress, $0.count) }
    }

    /// The digest of all bytes so far; more may follow.
    package func digest() -> Digest {
        let hash = XXH3_128bits_digest(state)
        return Digest(high: hash.high64, low: hash.low64)
    }
}

extension Digest {
    /// The digest of digests, 16 bytes each, as their hexadecimal digits are written.
    package init(of digests: [Digest]) {
        var stream = DigestStream()
        for digest in digests {
            let words = [digest.high.bigEndian, digest.low.bigEndian]
            stream.update(words.span.bytes)
        }
        self = stream.digest()
    }

    /// The digest of bytes that lie together.
    package init(of bytes: RawSpan) {
        var stream = DigestStream()
        stream.update(bytes)
        self = stream.digest()
    }
}
