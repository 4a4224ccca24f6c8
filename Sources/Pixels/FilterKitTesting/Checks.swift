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
    private static let sizes = [(16, 16), (7, 5), (61, 1), (1, 43)]

    /// Throws where tiles have other bytes than the whole.
    fileprivate func checkTiles() throws {
        let whole = extent
        let bytes = try output(whole)
        let pixelBytes = picture.channels * kind.bytes
        for (width, height) in Self.sizes {
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
    /// The same bytes; floats may differ by rounding.
    fileprivate func isLike(_ output: [UInt8], _ input: [UInt8]) -> Bool {
        guard kind == .f32 else { return output == input }
        return zip(floats(output), floats(input)).allSatisfy { abs($0 - $1) <= 1e-5 }
    }
}

extension ContractCheck {
    static let geometry = ContractCheck("geometry") { subject in
        for (what, values) in [("its fallbacks", subject.fallbacks)] + subject.variations {
            for margins in [subject.plugin.halo, subject.plugin.growth].compactMap({ $0?(values) }) {
                let sides = [margins.left, margins.top, margins.right, margins.bottom]
                guard sides.allSatisfy({ (0...16384).contains($0) }) else {
                    throw Breach("with \(what) its halo or growth is outside 0…16384: \(sides)")
                }
            }
            let input = PixelRect(x: 0, y: 0, width: 61, height: 43)
            let extent = subject.extent(of: input, values)
            guard !extent.isEmpty else { throw Breach("with \(what) its extent is empty") }
            let region = subject.needed(for: extent, in: input, values)
            for tile in TileGrid(extent: extent, tileWidth: 16, tileHeight: 16).tiles
            where !region.contains(subject.needed(for: tile, in: input, values)) {
                throw Breach("with \(what) it reads more for \(tile) than for its whole extent")
            }
        }
    }

    static let renders = ContractCheck("all formats and channels") { subject in
        for trial in subject.trials() {
            let (zeros, ones) = (
                try trial.output(trial.extent), try trial.output(trial.extent, unwritten: 0xFF)
            )
            guard zeros == ones else { throw Breach("it leaves pixels of \(trial.title) unwritten") }
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
        let different = Mutex<[String]>([])
        Threads.run(4) {
            for (trial, bytes) in zip(trials, expected) where (try? trial.output(trial.extent)) != bytes {
                different.withLock { $0.append(trial.title) }
            }
        }
        if let title = different.withLock({ $0.first }) {
            throw Breach("calls from several threads disturb each other (\(title)); it has global state")
        }
    }

    static let special = ContractCheck("what is no number, and extreme input") { subject in
        for trial in subject.trials(nil, .special) { try trial.checkTiles() }
    }

    static let extremes = ContractCheck("extreme values") { subject in
        for (what, values) in subject.variations {
            for trial in subject.trials(values) {
                do {
                    let result = try trial.render(trial.extent)
                    guard result.status == PENUMBRA_OK || !result.message.isEmpty else {
                        throw Breach("with \(what) it fails and says not why; write a sentence to `error`")
                    }
                } catch is Inapplicable { continue }
            }
        }
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
