import CPenumbraPlugin
import CPluginTrial
import Geometry
import Synchronization

extension Subject {
    /// Trials with every format that the plugin supports, with one to four channels.
    fileprivate func trials(_ values: [Double]? = nil, _ content: TestPicture.Content = .noise) -> [Trial] {
        (content == .special ? [.f32] : formats).flatMap { kind in
            TestPicture.all(content).map {
                Trial(subject: self, picture: $0, kind: kind, values: values ?? fallbacks)
            }
        }
    }
}

extension Trial {
    /// The size of tiles, in pixels.
    typealias Size = (width: Int, height: Int)

    private static let sizes: [Size] = [(16, 16), (7, 5), (61, 1), (1, 43)]

    /// Throws an error if tiles have other bytes than the whole picture.
    fileprivate func checkTiles(_ sizes: [Size] = sizes) throws {
        let whole = extent
        let bytes = try output(whole)
        let pixelBytes = picture.channels * kind.bytes
        for (width, height) in sizes {
            for tile in TileGrid(extent: whole, tileWidth: width, tileHeight: height).tiles {
                let part = try output(tile)
                for (row, y) in tile.rows.enumerated() {
                    let start = ((y - whole.y) * whole.width + tile.x - whole.x) * pixelBytes
                    let count = tile.width * pixelBytes
                    guard part[row * count..<(row + 1) * count] == bytes[start..<start + count] else {
                        throw BreachError(
                            "row \(y) of \(title) differs between a tile of \(width)×\(height) and the whole picture; "
                                + "what is written may depend on places and values only")
                    }
                }
            }
        }
    }
}

extension Trial {
    /// At the ends of parameters a filter may refuse to render, with a message. Rendered pixels must pass all checks.
    fileprivate func checkExtreme() throws {
        let result = try render(extent)
        guard result.status == PENUMBRA_OK else {
            if result.message.isEmpty { throw BreachError("it fails and says not why; write a sentence to `error`") }
            return
        }
        guard try output(extent, unwritten: 0xFF) == result.bytes else {
            throw BreachError("it leaves pixels of \(title) unwritten, or gives other bytes the second time")
        }
        try checkIsFinite(result.bytes)
        // Four tiles: each of them reads all pixels that such values read.
        try checkTiles([(extent.width * 3 / 5, extent.height * 3 / 5)])
    }

    /// Input samples of 0…1 must result in finite numbers.
    fileprivate func checkIsFinite(_ output: [UInt8]) throws {
        guard kind == .f32, picture.content == .noise else { return }
        guard floats(output).allSatisfy(\.isFinite) else {
            throw BreachError("it writes what is no number, or infinite, for samples of 0…1 (\(title))")
        }
    }

    /// Whether the bytes are the same. Floats may differ by rounding.
    fileprivate func isLike(_ output: [UInt8], _ input: [UInt8]) -> Bool {
        guard kind == .f32 else { return output == input }
        return zip(floats(output), floats(input)).allSatisfy { abs($0 - $1) <= 1e-5 }
    }
}

extension Trial {
    /// The farthest reading beyond the halo that is measured, in pixels.
    fileprivate static let widestReach = 64

    /// Throws an error if the result depends on pixels that the filter did not ask for.
    fileprivate func checkReach() throws {
        let area = PixelRect(x: extent.x + 9, y: extent.y + 11, width: 23, height: 17)
        guard extent.contains(area) else { throw InapplicableError("its extent is too small to try") }
        let quiet = OutsideSamples(margin: Self.widestReach, pattern: 0)
        // At the ends of parameters a filter may refuse to render. Other checks look at its message.
        guard try render(area, around: quiet).status == PENUMBRA_OK else {
            throw InapplicableError("it refuses its fallbacks")
        }
        let loud: UInt8 = kind == .f32 ? 0x7E : 0xFF  // a very large number
        let expected = try output(area, around: quiet)
        guard try output(area, around: OutsideSamples(margin: Self.widestReach, pattern: loud)) != expected else {
            return
        }
        // A filter that keeps state is reported by another check.
        guard try output(area, around: quiet) == expected else {
            throw InapplicableError("it gives other bytes the second time")
        }
        let reaches = try Side.allCases.compactMap { side -> String? in
            let reach = try reach(side, area, loud, expected)
            guard reach > 0 else { return nil }
            return "\(reach == Self.widestReach ? "at least " : "")\(reach) px \(side.rawValue)"
        }
        let sides = reaches.isEmpty ? "" : ": " + reaches.joined(separator: ", ") + ","
        throw BreachError("it reads beyond its \(subject.declared)\(sides) on \(words(area))")
    }

    /// The smallest distance on a side beyond which other bytes do not change the result.
    private func reach(_ side: Side, _ area: PixelRect, _ loud: UInt8, _ expected: [UInt8]) throws -> Int {
        var (low, high) = (0, Self.widestReach)
        while low < high {
            let middle = (low + high) / 2
            let around = OutsideSamples(margin: Self.widestReach, pattern: 0, far: (side, middle, loud))
            if try output(area, around: around) == expected { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension ContractCheck {
    static let renders = ContractCheck("all formats and channels") { subject in
        for trial in subject.trials() {
            // The margin lets a filter with a halo that is too small live until the check that measures it.
            let around = Trial.OutsideSamples(margin: Trial.widestReach)
            let zeros = try trial.output(trial.extent, around: around)
            let ones = try trial.output(trial.extent, unwritten: 0xFF, around: around)
            guard zeros == ones else { throw BreachError("it leaves pixels of \(trial.title) unwritten") }
            try trial.checkIsFinite(zeros)
        }
    }

    static let tiles = ContractCheck("tile invariance") { subject in
        for trial in subject.trials() { try trial.checkTiles() }
    }

    static let halo = ContractCheck("declared region of interest") { subject in
        for trial in subject.trials() { try trial.checkReach() }
        for (_, values) in subject.variations {
            let trial = Trial(subject: subject, picture: TestPicture.all(.noise)[3], kind: .f32, values: values)
            do {
                try trial.checkReach()
            } catch is InapplicableError {
                continue  // Its extent is small, or its halo large, with these values only.
            }
        }
    }

    static let again = ContractCheck("the same bytes again") { subject in
        for trial in subject.trials() where try trial.output(trial.extent) != trial.output(trial.extent) {
            throw BreachError("a second call gives other bytes (\(trial.title)); it keeps state, or reads a clock")
        }
    }

    static let threads = ContractCheck("several threads at once") { subject in
        let trials = subject.trials()
        let expected = try trials.map { try $0.output($0.extent) }
        let failure = Mutex<(any Error)?>(nil)
        Threads.run(4) {
            do {
                for (trial, bytes) in zip(trials, expected) where try trial.output(trial.extent) != bytes {
                    throw BreachError(
                        "calls from several threads disturb each other (\(trial.title)); it has global state")
                }
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    static let special = ContractCheck("what is no number, and extreme input") { subject in
        for trial in subject.trials(nil, .special) { try trial.checkTiles() }
    }

    static let extremes = ContractCheck("extreme values") { subject in
        guard !subject.variations.isEmpty else { throw InapplicableError("it has no parameters") }
        var hasTried = false
        for (what, values) in subject.variations {
            for trial in subject.trials(values) {
                do {
                    try trial.checkExtreme()
                    hasTried = true
                } catch is InapplicableError {
                    continue
                } catch let breach as BreachError {
                    throw BreachError("with \(what) \(breach)")
                }
            }
        }
        guard hasTried else {
            throw InapplicableError("at the ends of its parameters it reads too far around to be tried")
        }
    }

    static let identity = ContractCheck("identity") { subject in
        let candidates = [subject.fallbacks, subject.parameters.map { min(max(0, $0.minimum), $0.maximum) }]
        let identities = (candidates + subject.variations.map(\.values)).filter(subject.isIdentity)
        guard !identities.isEmpty else { throw InapplicableError("no values that it calls an identity were found") }
        for trial in identities.flatMap({ subject.trials($0) }) {
            guard trial.extent == trial.picture.extent, try trial.isLike(trial.output(trial.extent), trial.input())
            else {
                throw BreachError("values that it calls an identity change \(trial.title)")
            }
        }
    }

    static let cancellation = ContractCheck("cancellation") { subject in
        for var trial in subject.trials() {
            trial.isCancelled = true
            let status = try trial.render(trial.extent).status
            guard [PENUMBRA_OK, PENUMBRA_CANCELLED].map({ Int32($0) }).contains(status) else {
                throw BreachError("it answers \(status) when it is cancelled; return PENUMBRA_CANCELLED")
            }
        }
    }

    static let memory = ContractCheck("no memory left behind", measuresMemory: true) { subject in
        guard let trial = subject.trials().first else { return }
        for _ in 0..<32 { _ = try trial.output(trial.extent) }
        let before = allocated_bytes()
        for _ in 0..<64 { _ = try trial.output(trial.extent) }
        let left = (allocated_bytes() - before) / 64
        guard left < 64 else { throw BreachError("each call leaves about \(left) bytes behind") }
    }
}

extension ContractCheck {
    static let arithmetic = ContractCheck("floating-point mode") { subject in
        for kind in subject.formats {
            let trial = Trial(
                subject: subject, picture: TestPicture.all(.noise)[2], kind: kind, values: subject.fallbacks)
            guard try trial.render(trial.extent).keepsMode else {
                throw BreachError("it changes the floating-point mode; put it back")
            }
        }
    }

    /// Integers and floats of the same picture differ by rounding. A threshold may change a few pixels.
    static let formats = ContractCheck("formats agree") { subject in
        guard subject.formats.contains(.u8) else { throw InapplicableError("it takes 32-bit floats alone") }
        for picture in TestPicture.all(.noise) where subject.isPoint || !picture.hasAlpha {
            func output(_ kind: SampleKind) throws -> [UInt8] {
                let trial = Trial(subject: subject, picture: picture, kind: kind, values: subject.fallbacks)
                return try trial.output(trial.extent)
            }
            let (bytes, floats) = (try output(.u8), floats(try output(.f32)))
            let far = zip(bytes, floats).count { abs(Float($0) - min(max($1, 0), 1) * 255) > 1.01 }
            guard far * 20 <= bytes.count else {
                throw BreachError("bytes and floats of \(picture.title) differ at \(far) of \(bytes.count) samples")
            }
        }
    }
}

/// Converts bytes to 32-bit floats.
func floats(_ bytes: [UInt8]) -> [Float] {
    bytes.withUnsafeBytes { raw in
        stride(from: 0, to: raw.count, by: 4).map { raw.loadUnaligned(fromByteOffset: $0, as: Float.self) }
    }
}

extension ContractCheck {
    /// Checks the header's rules for margins and rectangles, without pixels.
    static let geometry = ContractCheck("geometry") { subject in
        for (what, values) in [("its fallbacks", subject.fallbacks)] + subject.variations {
            do {
                try subject.checkMargins(values)
                for input in Subject.inputs { try subject.checkRectangles(of: input, values) }
                try subject.checkParts(values)
            } catch let breach as BreachError {
                throw BreachError("with \(what) \(breach)")
            }
        }
    }
}

extension Subject {
    fileprivate static let inputs = [(61, 43), (1, 1), (3, 4000), (4000, 3), (30000, 20000)].map {
        PixelRect(x: 0, y: 0, width: $0.0, height: $0.1)
    }

    private static let widestMargin = 16384
    private static let longestSide = 1_000_000

    fileprivate func checkMargins(_ values: [Double]) throws {
        for margins in [plugin.halo, plugin.growth].compactMap({ $0?(values) }) {
            let sides = [margins.left, margins.top, margins.right, margins.bottom]
            guard sides.allSatisfy({ (0...Int32(Self.widestMargin)).contains($0) }) else {
                throw BreachError("its halo or growth is outside 0…\(Self.widestMargin): \(sides)")
            }
        }
    }

    fileprivate func checkRectangles(of input: PixelRect, _ values: [Double]) throws {
        if let extent = plugin.extent?(penumbra_rect(input), values) {
            try Self.check(extent, "its extent of \(input)", longest: (Self.longestSide, Self.longestSide))
        }
        guard let region = plugin.region_of_interest else { return }
        for output in samples(extent(of: input, values)) {
            let more = 2 * Self.widestMargin
            try Self.check(
                region(penumbra_rect(output), penumbra_rect(input), values),
                "of \(input) its region of interest for \(output)", longest: (output.width + more, output.height + more)
            )
        }
    }

    /// The whole extent, and pixels at its corners, its borders and in the middle.
    private func samples(_ extent: PixelRect) -> [PixelRect] {
        let columns = [extent.x, extent.x + extent.width / 2, extent.right - 1]
        let rows = [extent.y, extent.y + extent.height / 2, extent.bottom - 1]
        return [extent] + rows.flatMap { y in columns.map { PixelRect(x: $0, y: y, width: 1, height: 1) } }
    }

    private static func check(_ rect: penumbra_rect, _ what: String, longest: (width: Int, height: Int)) throws {
        let far: Int64 = 10_000_000
        guard (1...Int64(longest.width)).contains(rect.width), (1...Int64(longest.height)).contains(rect.height),
            (-far...far).contains(rect.x), (-far...far).contains(rect.y)
        else {
            throw BreachError(
                "\(what) is \(rect.width)×\(rect.height) at \(rect.x), \(rect.y); at most \(longest.width)×"
                    + "\(longest.height) within \(far) of 0, 0 are allowed, and not nothing")
        }
    }

    fileprivate func checkParts(_ values: [Double]) throws {
        let input = Self.inputs[0]
        let extent = extent(of: input, values)
        let region = needed(for: extent, in: input, values)
        for tile in TileGrid(extent: extent, tileWidth: 16, tileHeight: 16).tiles
        where !region.contains(needed(for: tile, in: input, values)) {
            throw BreachError("it reads more for \(tile) than for its whole extent")
        }
    }
}
