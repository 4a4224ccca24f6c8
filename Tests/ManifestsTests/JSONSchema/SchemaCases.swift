/// Manifests for the schema and the reader to agree on.
enum SchemaCases {
    /// A job that is right but for `lines`, which may also replace its keys.
    static func job(_ lines: String) -> String {
        let base = [("job", "nightly"), ("inputs", "'*.jpg'"), ("filters", "[invert]"), ("output", "out/{stem}.png")]
        let given = lines.split(separator: "\n").map { $0.prefix { $0 != ":" } }
        let isSeveral = given.contains { $0 == "outputs" }
        let rest = base.filter { key, _ in
            !given.contains { $0 == key } && !(isSeveral && key == "output")
        }
        return lines + "\n" + rest.map { "\($0): \($1)\n" }.joined()
    }

    static let right: [String] =
        [
            "job: 2024", "job: 1.5", "job: true", "description: 12", "description: no", "description: 'null'",
            "inputs: [a.jpg, b, 2024]", "inputs: 2024", "filters: []", "exclude: []", "exclude: drafts",
            "exclude: [1, b]",
            "tile: auto", "tile: 512", "tile: '512'", "tile: +512", "retries: 0", "retries: '7'", "timeout: auto",
            "timeout: 90", "timeout: 90s", "timeout: 1.5h", "timeout: 7d", "min_age: 0", "min_age: 5s",
            "max_failures: off", "max_failures: 7", "max_failures: 10%", "max_failures: 0.5%", "max_pixels: 2000M",
            "dpi: 300",
            "max_pixels: 1.5G", "max_pixels: 1000000", "max_pixels: '5k'", "index: out/a.JSON", "color: srgb",
            "existing: error", "verify: full", "receipts: sidecar", "durability: batch", "upgrade: rerender",
            "compare: content", "shard: tile", "opaque: false", "save: {}", "save: {compression: 9}",
            "save: {compression: '9'}",
            "save: {metadata: public, dither: true, background: '#fff'}", "save: {dither: 'false', background: White}",
            "save: {set: {copyright: Ann, creator: [Ann, Bo], keywords: boat}}", "save: {set: {}}",
            "save: {color: keep}", "save: {color: p3}", "save: {color: adobe, intent: perceptual, black_point: false}",
            "output: a.jpg\nsave: {color: inks/paper.ICC, intent: absolute}", "save: {color: gray}",
            "save: {precision: auto, depth: 8}", "save: {precision: 8, depth: '8'}", "save: {precision: float}",
            "output: a.tif\nsave: {precision: input, depth: input}", "output: a.{ext}\nsave: {depth: 16}",
            "output: a.JPG\nsave: {quality: 80, progressive: true}", "output: a.{ext}\nsave: {quality: 80}",
            "output: a.{ext}\nsave: {compression: lzw}", "output: a.{ext}\nsave: {compression: 3}",
            "output: '{dir}/{stem}-{width}x{height}-{index:04}-{frame:03}-{hash8}.tif'",
            "outputs: [{path: 'a-{stem}.png'}, {path: 'b-{stem}.jpg', filters: [invert], save: {quality: 3}}]",
            "outputs:\n- path: 'a-{stem}.tif'\n  save: {compression: lzw}",
        ].map(job)
        + [
            "invert", "invert: {}", "gaussian", "gaussian: {radius: 12}", "gaussian: {radius: '12'}",
            "gaussian: {radius: 1e2}", "gaussian: {sigma: {x: 1, y: 2.5}}", "gaussian: {extent: expand}",
            "gaussian: {extent: expand, edge: transparent}", "motion: {length: 2000}", "motion: {samples: continuous}",
            "motion: {samples: 7, angle: -90}", "fill: {color: white, opaque: false, label: 12}",
            "fill: {color: '#12345678', opaque: 'true', label: yes, steps: 8}", "fill: {half_steps: 16}",
            "place: {size: 320}", "place: {size: 320x}", "place: {size: x240}", "place: {size: 50%}",
            "place: {size: 320x240, left: 10%, angle: left}", "place: {size: 0.5%, left: -4px, angle: 12.5}",
            "gaussian: {within: {x: 10%, y: 4, width: 50%, height: 12px, corner_radius: 0}}",
            "gaussian: {within: {x: -10%, y: -4, width: 0.5%, height: 0.5}}",
        ].map { job("filters:\n  - \($0)") }

    static let wrong: [String] =
        [
            "job: a b", "job: -5", "job: [a]", "job: ''", "jobs: a", "inputs: []", "inputs: ''", "inputs: {a: b}",
            "inputs: s3://bucket/a.jpg", "filters: invert", "filters: {invert: {}}",
            "output: a", "output: a.xyz", "output: a.heic", "output: '{steem}.png'", "output: 'a}.png'",
            "output: '{index:4}.png'", "output: 12", "output: out/", "output: 's3://bucket/{stem}.png'", "tile: 0",
            "tile: 2000000", "tile: large", "retries: 101", "retries: -1", "retries: 1.5", "timeout: 0",
            "timeout: 8000000", "timeout: soon", "timeout: 5 m", "min_age: 90000", "min_age: -1", "max_failures: 0",
            "max_failures: 101%", "max_failures: 0%", "max_failures: none", "max_pixels: 0", "dpi: 0", "dpi: 2401",
            "max_pixels: 5X",
            "max_pixels: 1.5", "index: a.txt", "color: adobe", "existing: replace", "verify: fully", "receipts: yes",
            "durability: none", "upgrade: true", "compare: time", "shard: frames", "opaque: 1", "save: []",
            "save: {quality: 80}",
            "save: {compression: lzw}", "save: {compression: 10}", "save: {metadata: all}", "save: {dither: yes}",
            "save: {set: Ann}", "save: {set: {author: Ann}}", "save: {set: {title: [a]}}", "save: {precision: 12}",
            "save: {color: cmyk}", "save: {color: srgb, intent: best}", "save: {color: srgb, black_point: yes}",
            "color: p3", "save: {precision: u16}", "save: {depth: auto}", "save: {depth: 32}",
            "save: {background: transparent}", "save: {background: '#12345680'}", "save: {background: red}",
            "output: a.jpg\nsave: {quality: 0}", "output: a.jpg\nsave: {quality: 101}", "output: a.jpg\nsave: {q: 50}",
            "output: a.jpg\nsave: {lossless: true}", "output: a.{ext}\nsave: {lossy: true}", "workers: 3",
            "gaussian: {}",
            "outputs: []", "outputs: {path: a.png}", "outputs: [{path: a.png}]\noutput: b.png",
            "outputs: [{path: a.png}]\nsave: {}", "outputs: [{filters: [invert]}]", "outputs: [{path: a.png, to: b}]",
            "outputs: [{path: a.png, save: {quality: 3}}]",
        ].map(job)
        + [
            "gausian", "gausian: {radius: 3}", "12", "[invert]", "{}", "invert: {radius: 3}", "gaussian: 12",
            "gaussian: {radius: -1}", "gaussian: {radius: 1001}", "gaussian: {radius: wide}",
            "gaussian: {radius: true}",
            "gaussian: {radius: {x: 1}}", "gaussian: {radius: {x: 1, y: 2, z: 3}}", "gaussian: {radius: [1, 2]}",
            "gaussian: {radius: 3, sigma: 3}", "gaussian: {angle: 3}", "gaussian: {edge: round}",
            "gaussian: {edge: Clamp}", "gaussian: {extent: expand, edge: mirror}",
            "gaussian: {extent: expand, within: {x: 0, y: 0, width: 5, height: 5}}", "gaussian: {within: 10%}",
            "gaussian: {within: {x: 0, y: 0, width: 5}}", "gaussian: {within: {x: 0, y: 0, width: 0, height: 5}}",
            "gaussian: {within: {x: 0, y: 0, width: 0%, height: 5}}",
            "gaussian: {within: {x: 0, y: 0, width: -5%, height: 5}}",
            "gaussian: {within: {x: 0, y: 0, width: 5, height: 5, corner_radius: -1}}",
            "gaussian: {within: {x: 1e10, y: 0, width: 5, height: 5}}", "motion: {length: 2001}",
            "motion: {samples: 0}",
            "motion: {samples: 2.5}", "motion: {samples: many}", "motion: {angle: up}", "fill: {opaque: 1}",
            "fill: {opaque: on}", "fill: {color: red}", "fill: {color: 12}", "fill: {label: [a]}", "fill: {steps: 9}",
            "fill: {half_steps: 17}", "place", "place: {}", "place: {left: 3}", "place: {size: 0}", "place: {size: 0%}",
            "place: {size: 320y}", "place: {size: 1000001}", "place: {size: x}", "place: {size: 3, left: 5em}",
            "place: {size: 3, angle: up}", "gaussian: {radius: 3}\n    invert: {}",
        ].map { job("filters:\n  - \($0)") }
        + [
            "inputs: a.jpg\nfilters: [invert]\noutput: a.png\n", "job: a\nfilters: [invert]\noutput: a.png\n",
            "job: a\ninputs: a.jpg\noutput: a.png\n", "job: a\ninputs: a.jpg\nfilters: [invert]\n", "- job: a\n",
        ]

    /// A manifest with one value for a key, or for a parameter of a filter, of which many fit.
    static func generated(seed: UInt64) -> String {
        var random = SplitMix64(seed: seed)
        if random.once(in: 3) { return job("\(random.pick(keys)): \(random.pick(values))") }
        let (filter, parameters) = random.pick(filters)
        let size = filter == "place" && !random.once(in: 3) ? "size: 320x" : ""
        let entries = (random.pick(parameters), random.pick(values))
        let more = entries.0 == "size" || size.isEmpty ? "" : ", \(size)"
        return job("filters:\n  - \(filter): {\(entries.0): \(entries.1)\(more)}")
    }

    private static let keys = [
        "description", "exclude", "tile", "retries", "timeout", "min_age", "max_failures", "max_pixels", "color",
        "existing", "verify", "shard", "save", "compare", "index",
    ]

    private static let filters = [
        ("gaussian", ["radius", "sigma", "edge", "extent", "light", "within"]),
        ("motion", ["radius", "angle", "length", "samples", "light", "angel"]),
        ("fill", ["color", "opaque", "label", "steps", "half_steps"]),
        ("place", ["size", "left", "angle"]),
    ]

    private static let values = [
        "0", "1", "5", "-1", "1.5", "1e3", "100", "1000", "2000", "'12'", "\"7\"", "true", "false", "yes", "off",
        "auto",
        "white", "'#abc'", "'#abcdef'", "keep", "srgb", "update", "digest", "tile", "clamp", "crop", "expand",
        "encoded",
        "linear", "continuous", "left", "12px", "10%", "320x240", "x9", "5s", "3m", "2000M", "[]", "{}", "{x: 1, y: 2}",
        "{x: 0, y: 1px, width: 50%, height: 8}", "{metadata: strip}", "{compression: 3}", "[a, b]", "a text", "a.json",
        "stamp", "+5", "010", "0.5", "transparent",
    ]
}
