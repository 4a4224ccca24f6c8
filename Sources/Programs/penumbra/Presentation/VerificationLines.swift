import Coordination
import JobModel
import JobStorage
import Reports

/// One output that was looked at.
struct VerifiedLine: Encodable {
    let event = "verified"
    let path: String
    /// `as published`, `missing`, `truncated`, `changed`, `swapped`, `unreadable`, `unknown`.
    let state: String
    var job: String?
    /// What is there now, where it could be read.
    var bytes: Int?
    var digest: String?
    var publishedBytes: Int?
    var publishedDigest: String?
    /// The output whose bytes it has, and that has its.
    var swappedWith: String?
    /// The output whose bytes it has, where the two were not swapped.
    var copyOf: String?
    var message: String?

    init(_ output: VerifiedOutput) {
        let record = output.output.record
        (path, job, state) = (record.path, output.output.job, output.condition.word)
        (bytes, digest) = (output.found?.stamp.size, output.found?.digest.description)
        (publishedBytes, publishedDigest) = (record.file.stamp.size, record.file.digest.description)
        switch output.condition {
        case .swapped(let other): swappedWith = other
        case .copied(let other): copyOf = other
        case .unreadable(let message): self.message = message
        case .asPublished, .missing, .truncated, .changed: break
        }
    }

    init(unknown path: String) {
        (self.path, state) = (path, "not known")
        message = "not known: no job of this state folder published it"
    }
}

/// One output that was rendered again.
struct RerenderedLine: Encodable {
    let event = "rerendered"
    let path: String
    let job: String
    /// `as published`, `encoder differs`, `bytes differ`, `pixels differ`, `versions differ`, `differs`, `skipped`, `failed`.
    let state: String
    var reason: String?
    /// What came out; missing where it was not rendered.
    var digest: String?
    var pixels: String?
    var encoder: String?
    let publishedDigest: String
    var publishedPixels: String?
    var publishedEncoder: String?

    init(_ output: RerenderedOutput) {
        let record = output.output.record
        (path, job, state) = (record.path, output.output.job, output.condition.word)
        (digest, pixels) = (output.digest?.description, output.pixels?.digest.description)
        encoder = output.pixels?.encoding.encoder
        publishedDigest = record.file.digest.description
        publishedPixels = record.pixels?.digest.description
        publishedEncoder = record.pixels?.encoding.encoder
        switch output.condition {
        case .skipped(let reason), .failed(let reason): self.reason = reason
        case .versionsDiffer(let versions): reason = "rendered by \(versions)"
        case .asPublished, .encoderDiffers, .bytesDiffer, .pixelsDiffer, .unknownDiffers: break
        }
    }
}

/// What came of all outputs.
struct VerificationLine: Encodable {
    /// `verification` or `rerendering`.
    let event: String
    let outputs: Int
    /// Of how many they are a sample, and by which seed.
    private(set) var sampleOf: Int?
    private(set) var seed: UInt64?
    /// How many outputs are in each state.
    let states: [String: Int]
    private(set) var bytesRead: Int?

    init(_ outputs: [VerifiedOutput], _ sampling: (total: Int, seed: UInt64)?) {
        event = "verification"
        self.outputs = outputs.count
        (sampleOf, seed) = (sampling?.total, sampling?.seed)
        states = Dictionary(outputs.map { ($0.condition.word, 1) }, uniquingKeysWith: +)
        bytesRead = outputs.reduce(0) { $0 + ($1.found?.stamp.size ?? 0) }
    }

    init(_ outputs: [RerenderedOutput]) {
        event = "rerendering"
        self.outputs = outputs.count
        states = Dictionary(outputs.map { ($0.condition.word, 1) }, uniquingKeysWith: +)
    }

    /// `verified 12 of 1,200 outputs (--seed 7): 11 as published, 1 missing in 1.2 s, 34.1 MB read`
    func text(elapsed: Duration) -> String {
        let whole =
            sampleOf.map { "\(Figures.count(outputs)) of \(Figures.plural($0, "output")) (--seed \(seed ?? 0))" }
            ?? Figures.plural(outputs, "output")
        // Well ones come first.
        let ordered = states.sorted {
            ($0.key == "as published" ? "" : $0.key) < ($1.key == "as published" ? "" : $1.key)
        }
        let counts = ordered.map { "\(Figures.count($0.value)) \($0.key)" }.joined(separator: ", ")
        let read = bytesRead.map { ", \(Figures.bytes($0)) read" } ?? ""
        let done = bytesRead == nil ? "rendered again" : "verified"
        return "\(done) \(whole): \(counts) in \(Figures.duration(elapsed))\(read)"
    }
}
