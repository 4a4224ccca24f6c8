import CPenumbraPlugin
import CPluginTrial
import Geometry
import Synchronization

extension Subject {
    /// Every format that the plugin takes, with one to four channels.
    fileprivate func trials(_ values: [Double]? = nil, _ content: TestPicture.Content = .noise) -> [Trial] {
        (content == .special ? [.f32] : formats).flatMap { kind in
            TestPicture.all(content).map {
                Trial(subject: self, picture: $0, kind: kind, values: values ?? fallbacks)
            }
        }
    }
}

extension Trial {
    /// Of tiles, in pixels.
    typealias Size = (width: Int, height: Int)

    private static let sizes: [Size] = [(16, 16), (7, 5), (61, 1), (1, 43)]

    /// Throws where tiles have other bytes than the whole.
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
                        throw Breach(
                            "row \(y) of \(title) differs between a tile of \(width)×\(height) and the whole picture; "
                                + "what is written may depend on places and values only")
                    }
                }
            }
        }
    }
}

extension Trial {
    /// At the ends of parameters a filter may refuse, in words; what it renders is held to all that other pixels are.
    fileprivate func checkExtreme() throws {
        let result = try render(extent)
        guard result.status == PENUMBRA_OK else {
            if result.message.isEmpty { throw Breach("it fails and says not why; write a sentence to `error`") }
            return
        }
        guard try output(extent, unwritten: 0xFF) == result.bytes else {
            throw Breach("it leaves pixels of \(title) unwritten, or gives other bytes the second time")
        }
        try checkIsFinite(result.bytes)
        // Four tiles: each of them reads all that such values read.
        try checkTiles([(extent.width * 3 / 5, extent.height * 3 / 5)])
    }

    /// Of samples of 0…1 a filter makes numbers.
    fileprivate func checkIsFinite(_ output: [UInt8]) throws {
        guard kind == .f32, picture.content == .noise else { return }
        guard floats(output).allSatisfy(\.isFinite) else {
            throw Breach("it writes what is no number, or infinite, for samples of 0…1 (\(title))")
        }
    }

    /// The same bytes; floats may differ by rounding.
    fileprivate func isLike(_ output: [UInt8], _ input: [UInt8]) -> Bool {
        guard kind == .f32 else { return output == input }
        return zip(floats(output), floats(input)).allSatisfy { abs($0 - $1) <= 1e-5 }
    }
}

extension ContractCheck {
    static let renders = ContractCheck("all formats and channels") { subject in
        for trial in subject.trials() {
            let (zeros, ones) = (
                try trial.output(trial.extent), try trial.output(trial.extent, unwritten: 0xFF)
            )
            guard zeros == ones else { throw Breach("it leaves pixels of \(trial.title) unwritten") }
            try trial.checkIsFinite(zeros)
        }
    }

    static let tiles = ContractCheck("tile invariance") { subject in
        for trial in subject.trials() { try trial.checkTiles() }
    }

    static let halo = ContractCheck("declared region of interest") { subject in
        for trial in subject.trials() {
            let area = PixelRect(x: trial.extent.x + 9, y: trial.extent.y + 11, width: 23, height: 17)
            guard trial.extent.contains(area) else { throw Inapplicable("its extent is too small to try") }
            guard try trial.output(area, around: 0x00) == trial.output(area, around: 0x7E) else {
                throw Breach("it reads outside of what it asked for (\(trial.title))")
            }
        }
    }

    static let again = ContractCheck("the same bytes again") { subject in
        for trial in subject.trials() where try trial.output(trial.extent) != trial.output(trial.extent) {
            throw Breach("a second call gives other bytes (\(trial.title)); it keeps state, or reads a clock")
        }
    }

    static let threads = ContractCheck("several threads at once") { subject in
        let trials = subject.trials()
        let expected = try trials.map { try $0.output($0.extent) }
        let failure = Mutex<(any Error)?>(nil)
        Threads.run(4) {
            do {
                for (trial, bytes) in zip(trials, expected) where try trial.output(trial.extent) != bytes {
                    throw Breach("calls from several threads disturb each other (\(trial.title)); it has global state")
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
        guard !subject.variations.isEmpty else { throw Inapplicable("it has no parameters") }
        var hasTried = false
        for (what, values) in subject.variations {
            for trial in subject.trials(values) {
                do {
                    try trial.checkExtreme()
                    hasTried = true
                } catch is Inapplicable {
                    continue
                } catch let breach as Breach {
                    throw Breach("with \(what) \(breach)")
                }
            }
        }
        guard hasTried else { throw Inapplicable("at the ends of its parameters it reads too far around to be tried") }
    }

    static let identity = ContractCheck("identity") { subject in
        let candidates = [subject.fallbacks, subject.parameters.map { min(max(0, $0.minimum), $0.maximum) }]
        let identities = (candidates + subject.variations.map(\.values)).filter(subject.isIdentity)
        guard !identities.isEmpty else { throw Inapplicable("no values that it calls an identity were found") }
        for trial in identities.flatMap({ subject.trials($0) }) {
            guard trial.extent == trial.picture.extent, try trial.isLike(trial.output(trial.extent), trial.input())
            else {
                throw Breach("values that it calls an identity change \(trial.title)")
            }
        }
    }

    static let cancellation = ContractCheck("cancellation") { subject in
        for var trial in subject.trials() {
            trial.isCancelled = true
            let status = try trial.render(trial.extent).status
            guard [PENUMBRA_OK, PENUMBRA_CANCELLED].map({ Int32($0) }).contains(status) else {
                throw Breach("it answers \(status) when it is cancelled; return PENUMBRA_CANCELLED")
            }
        }
    }

    static let memory = ContractCheck("no memory left behind", measuresMemory: true) { subject in
        guard let trial = subject.trials().first else { return }
        for _ in 0..<32 { _ = try trial.output(trial.extent) }
        let before = allocated_bytes()
        for _ in 0..<64 { _ = try trial.output(trial.extent) }
        let left = (allocated_bytes() - before) / 64
        guard left < 64 else { throw Breach("each call leaves about \(left) bytes behind") }
    }
}
