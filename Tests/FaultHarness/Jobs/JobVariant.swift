/// One job that faults are injected into: its pictures and its manifest.
struct JobVariant: Hashable, Sendable {
    let name: String
    let pictures: [Picture]
    /// In flow style; RADIUS stands for what a generation of outputs differs in.
    let filters: String
    /// `output:` or `outputs:` lines; OUT stands for the folder of outputs.
    let output: String
    /// More lines of the manifest.
    var more: [String] = []
    var workers = 2
    /// Its pictures go through canvases and tiles.
    var isTiled = false
    /// Its outputs are folders.
    var hasFolders = false
    /// Its last picture is cut off, and fails.
    var hasBrokenPicture = false

    /// Each of its outputs has a receipt beside it.
    var hasReceipts = false

    var brokenPictures: Int { hasBrokenPicture ? 1 : 0 }

    /// What is recorded of outputs and what they are made into now.
    enum Generation: String, Hashable, Sendable {
        case previous
        case current
    }

    /// - Parameters:
    ///   - out: the folder of outputs, below the manifest's.
    ///   - extra: a filter in front of the others, and lines that a scenario needs.
    func manifest(_ generation: Generation, out: String, filter: String? = nil, extra: [String] = []) -> String {
        let radius = generation == .previous ? "2" : "4.5"
        let chain = (filter.map { "\($0), " } ?? "") + filters.replacing("RADIUS", with: radius)
        var lines = ["job: faults", "inputs: photos/*", "filters: [\(chain)]", output.replacing("OUT", with: out)]
        // The expected bytes are those without the filter, and a longer chain may compute with finer samples.
        if !(lines + more + extra).contains(where: { $0.hasPrefix("save:") || $0.hasPrefix("outputs:") }) {
            lines.append("save: {precision: input}")
        }
        return (lines + more + extra).joined(separator: "\n") + "\n"
    }
}

extension JobVariant {
    private static func pictures(_ count: Int, _ base: Int, _ seed: UInt64, form: Picture.Form? = nil) -> [Picture] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { index in
            let isPNG = form.map { $0 == .png } ?? Bool.random(using: &random)
            return Picture(
                stem: "p\(index)x", width: base + Int.random(in: 0...base / 2, using: &random),
                height: base * 2 / 3 + Int.random(in: 0...base / 2, using: &random),
                channels: isPNG ? [1, 3, 3, 4][Int.random(in: 0..<4, using: &random)] : 3, form: isPNG ? .png : .ppm,
                number: seed)
        }
    }

    private static let gaussian = "{gaussian: {radius: RADIUS}}"
    private static let tiles = ["shard: tile", "tile: 160"]

    static let tiled: [JobVariant] = [
        JobVariant(
            name: "tiles-png", pictures: pictures(3, 480, 1), filters: gaussian, output: "output: OUT/{stem}.png",
            more: tiles, isTiled: true),
        JobVariant(
            name: "tiles-full", pictures: pictures(2, 420, 2), filters: gaussian, output: "output: OUT/{stem}.tif",
            more: tiles + ["verify: full"], isTiled: true),
        JobVariant(
            name: "tiles-audit", pictures: pictures(2, 420, 3),
            filters: "\(gaussian), {motion: {radius: 9, angle: 30, samples: continuous}}",
            output: "output: OUT/{stem}.webp", more: tiles + ["verify: audit"], isTiled: true),
        JobVariant(
            name: "tiles-batch", pictures: pictures(3, 400, 4), filters: gaussian, output: "output: OUT/{stem}.ppm",
            more: ["shard: tile", "tile: 128", "durability: batch"], workers: 1, isTiled: true),
    ]

    static let whole: [JobVariant] = [
        JobVariant(
            name: "frames-png", pictures: pictures(8, 360, 5), filters: gaussian, output: "output: OUT/{stem}.png",
            more: ["shard: frame", "receipts: sidecar"], hasReceipts: true),
        JobVariant(
            name: "frames-batch", pictures: pictures(10, 260, 6), filters: gaussian,
            output: "output: OUT/{stem}.tif", more: ["shard: frame", "durability: batch"]),
        JobVariant(
            name: "frames-full", pictures: pictures(5, 360, 7), filters: gaussian, output: "output: OUT/{stem}.webp",
            more: ["shard: frame", "verify: full"]),
        JobVariant(
            name: "two-outputs", pictures: pictures(5, 400, 8), filters: gaussian,
            output: """
                outputs:
                  - path: OUT/{stem}.jpg
                  - path: OUT/small/{stem}.png
                    filters: [{thumbnail: {size: 120}}]
                """),
        JobVariant(
            name: "hash-names", pictures: pictures(6, 300, 9), filters: gaussian,
            output: "output: OUT/{stem}-{width}.png", more: ["shard: frame"], workers: 1),
        JobVariant(
            name: "broken-one", pictures: pictures(6, 300, 10, form: .png), filters: gaussian,
            output: "output: OUT/{stem}.png", more: ["shard: frame"], hasBrokenPicture: true),
        JobVariant(
            name: "zoom", pictures: pictures(3, 500, 11), filters: gaussian, output: "output: OUT/{stem}.dzi",
            more: ["shard: frame"], hasFolders: true),
    ]

    /// A chain that changes no pixel; see ``ReferenceStore``.
    static let identity = JobVariant(
        name: "identity", pictures: pictures(3, 400, 12, form: .ppm), filters: "{gaussian: {radius: 0}}",
        output: "output: OUT/{stem}.ppm", more: ["shard: tile", "tile: 150"], isTiled: true)

    static let all = tiled + whole + [identity]
}
