import Catalogs
import Coordination
import JobModel
import JobStorage
import Testing

@Suite struct RecipeTests {
    private static let later = ParameterDescriptor(
        "edge", .choice(["clamp", "mirror"]), fallback: .word("clamp"), summary: "What lies outside")

    private func comparison(_ old: Recipe, _ new: Recipe, _ catalog: Catalog = .make()) -> RecipeComparison {
        RecipeComparison(from: old, to: new, catalog: catalog)
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let words: [String]
        var old = Recipe.make()
        var new = Recipe.make()

        var testDescription: String { words.isEmpty ? "nothing" : words.joined(separator: ", ") }
    }

    private static func paper(_ digest: String) -> PictureReference {
        PictureReference(path: "/inks/a.icc", digest: digest)
    }

    private static let blurs: [FilterInvocation] = [.gaussian(12), .motion(40)]

    @Test func `a precision that earlier versions did not have is no change of the manifest`() {
        let found = comparison(.make(), .make(save: SaveOptions(precision: .auto)))
        #expect(found.changes == [])
        #expect(found.upgrades == [RecipeUpgrade(pixels: "the samples between filters (precision input → auto)")])
        #expect(comparison(.make(save: SaveOptions(precision: .auto)), .make()).changes == ["precision auto → input"])
    }

    @Test(arguments: [
        Change(words: []),
        Change(words: ["radius 12 → 14"], new: .make([.gaussian(14)])),
        Change(words: ["radius 12 → 12.5"], new: .make([.gaussian(12.5)])),
        Change(words: ["motion.radius 40 → 9"], old: .make(blurs), new: .make([.gaussian(12), .motion(9)])),
        Change(
            words: ["gaussian.radius 12 → 3", "motion.radius 40 → 9"], old: .make(blurs),
            new: .make([.gaussian(3), .motion(9)])),
        Change(words: ["filters gaussian → gaussian, motion"], new: .make(blurs)),
        Change(words: ["filters gaussian, motion → motion"], old: .make(blurs), new: .make([.motion(40)])),
        Change(words: ["filters gaussian, motion → motion, gaussian"], old: .make(blurs), new: .make(blurs.reversed())),
        Change(
            words: ["radius (none) → 12"], old: .make([FilterInvocation(filter: "x", values: [:])]),
            new: .make([FilterInvocation(filter: "x", values: ["radius": .number(12)])])),
        Change(words: ["color keep → srgb"], new: .make(color: .srgb)),
        Change(words: ["format webp → png"], new: .make(format: "png")),
        Change(words: ["quality 82 → 70"], new: .make(save: SaveOptions(values: ["quality": .integer(70)]))),
        Change(words: [], new: .make(save: SaveOptions(values: ["quality": .integer(82)]))),
        Change(words: ["metadata keep → public"], new: .make(save: SaveOptions(metadata: .public))),
        Change(words: ["dither false → true"], new: .make(save: SaveOptions(dither: true))),
        Change(words: ["precision input → 16"], new: .make(save: SaveOptions(precision: .u16))),
        Change(words: ["depth input → 16"], new: .make(save: SaveOptions(depth: .u16))),
        Change(words: ["save.color keep → p3"], new: .make(save: SaveOptions(color: OutputColor(.named(.p3))))),
        Change(
            words: ["save.color p3 → /inks/a.icc", "intent relative → absolute", "black_point true → false"],
            old: .make(save: SaveOptions(color: OutputColor(.named(.p3)))),
            new: .make(
                save: SaveOptions(color: OutputColor(.profile(paper("1")), intent: .absolute, blackPoint: false)))),
        Change(
            words: ["save.color /inks/a.icc has changed"],
            old: .make(save: SaveOptions(color: OutputColor(.profile(paper("1"))))),
            new: .make(save: SaveOptions(color: OutputColor(.profile(paper("2")))))),
        Change(
            words: [], old: .make(save: SaveOptions(color: OutputColor(.profile(paper("1"))))),
            new: .make(
                save: SaveOptions(color: OutputColor(.profile(PictureReference(path: "/b.icc", digest: "1")))))),
        Change(
            words: ["the copyright in 'set'"],
            new: .make(save: SaveOptions(texts: MetadataTexts([.copyright: ["Ann"]])))),
        Change(
            words: ["background [255, 255, 255] → [0, 0, 0]"], new: .make(save: SaveOptions(background: [0, 0, 0]))),
        Change(words: ["which pages of a file are read"], new: .make(pages: .first)),
        Change(
            words: ["radius 12 → 14", "color keep → srgb", "metadata keep → strip", "quality 82 → 70"],
            new: .make(
                [.gaussian(14)], color: .srgb,
                save: SaveOptions(metadata: .strip, values: ["quality": .integer(70)]))),
    ])
    func `a change of the manifest is reported in the manifest's words`(change: Change) {
        #expect(comparison(change.old, change.new).changes == change.words)
        #expect(comparison(change.old, change.new).upgrades == [])
    }

    @Test func `a picture is compared by its bytes, not by its path`() {
        func recipe(_ path: String, _ digest: String?) -> Recipe {
            let mask = ParameterValue.picture(PictureReference(path: path, digest: digest))
            return .make([FilterInvocation(filter: "x", values: ["mask": mask])])
        }
        let old = recipe("/a.png", "1")
        #expect(comparison(old, recipe("/b.png", "1")).changes == [])
        #expect(comparison(old, recipe("/a.png", "2")).changes == ["mask /a.png has changed"])
        #expect(comparison(old, recipe("/b.png", "2")).changes == ["mask /a.png → /b.png"])
        #expect(comparison(old, recipe("/a.png", nil)).changes == [])
    }

    @Test func `masks of each picture and outlines add nothing to recipes without them`() {
        func text(_ value: ParameterValue) -> String {
            Recipe.make([FilterInvocation(filter: "x", values: ["a": value])]).text
        }
        #expect(!text(.picture(PictureReference(path: "/a.png", digest: "1"))).contains(#""own""#))
        #expect(text(.picture(PictureReference(path: "/a.png", digest: "1", isOwn: true))).contains(#""own""#))
        #expect(!text(.regions(RegionSet([]))).contains("outlines"))
        let outlines = RegionSet([], outlines: [RegionOutline(rings: [[1, 2, 3.5, 4, 5, 9]], grow: 2)])
        #expect(Recipe(text: text(.regions(outlines)))?.steps.first?.values == ["a": .regions(outlines)])
    }

    @Test func `other outlines are other regions`() {
        func recipe(_ ring: [Double]) -> Recipe {
            let set = RegionSet([], outlines: [RegionOutline(rings: [ring])])
            return .make([FilterInvocation(filter: "x", values: ["within": .regions(set)])])
        }
        let old = recipe([1, 2, 3.5, 4, 5, 9])
        #expect(comparison(old, recipe([1, 2, 3.5, 4, 5, 9])).changes == [])
        #expect(comparison(old, recipe([1, 2, 3.5, 4, 5, 8])).changes == ["within has other regions"])
    }

    @Test func `a new parameter changes nothing while it has its fallback`() {
        let catalog = Catalog.make(later: Self.later)
        func now(_ edge: String) -> Recipe {
            .make(
                [FilterInvocation(filter: "gaussian", values: ["radius": .number(12), "edge": .word(edge)])],
                catalog: catalog)
        }
        #expect(comparison(.make(), now("clamp"), catalog).changes == [])
        #expect(comparison(.make(), now("mirror"), catalog).changes == ["edge clamp → mirror"])
        #expect(comparison(now("mirror"), .make(), catalog).changes == ["edge mirror → clamp"])
    }

    @Test func `other pixels of the same manifest are an upgrade and no change`() {
        let newer = Catalog.make(gaussian: 2)
        let upgraded = comparison(.make(), .make(catalog: newer), newer)
        #expect(upgraded.changes == [])
        #expect(upgraded.upgrades == [RecipeUpgrade(pixels: "gaussian's pixels (rendering version 1 → 2)")])
        let around = Catalog.make(versions: ["rendering": "2"])
        #expect(
            comparison(.make(), .make(catalog: around), around).upgrades
                == [RecipeUpgrade(pixels: "what is done around the filters (rendering version 1 → 2)")])
    }

    private func plugin(_ version: String, rendering: Int) -> Catalog {
        .make(gaussian: rendering, versions: ["rendering": "1", "gaussian": version])
    }

    @Test func `a plugin whose own version alone has changed makes the same pixels`() {
        let (old, new) = (plugin("0.9", rendering: 1), plugin("1.0", rendering: 1))
        let change = comparison(.make(catalog: old), .make(catalog: new), new)
        #expect(change.changes == [])
        #expect(change.upgrades == [])
        #expect(Recipe.make(catalog: old) != .make(catalog: new), "receipts name the plugin's version")
    }

    @Test func `a plugin's new rendering version is an upgrade of the plugin`() {
        let (old, new) = (plugin("0.9", rendering: 1), plugin("1.0", rendering: 2))
        #expect(
            comparison(.make(catalog: old), .make(catalog: new), new).upgrades
                == [RecipeUpgrade(pixels: "gaussian's pixels (rendering version 1 → 2)", plugin: "gaussian")])
    }

    @Test func `a plugin in the place of a built-in filter is an upgrade, whatever its rendering version`() {
        let new = plugin("1.0", rendering: 1)
        #expect(
            comparison(.make(), .make(catalog: new), new).upgrades
                == [RecipeUpgrade(pixels: "gaussian's pixels (rendering version 1 → 1 of 1.0)", plugin: "gaussian")])
    }

    @Test func `libraries of a built-in filter are recorded, and are no plugin`() {
        func catalog(_ pango: String, rendering: Int = 1) -> Catalog {
            Catalog(
                versions: ["text": pango],
                filters: [
                    FilterDescriptor(
                        name: "text", kind: .point, summary: "Writes", renderingVersion: rendering, parameters: [])
                ], formats: [])
        }
        let chain = [FilterInvocation(filter: "text", values: [:])]
        let old = Recipe.make(chain, catalog: catalog("Pango 1.50"))
        let newer = Recipe.make(chain, catalog: catalog("Pango 1.56"))
        #expect(old != newer)
        #expect(comparison(old, newer, catalog("Pango 1.56")).upgrades == [])
        let other = catalog("Pango 1.50", rendering: 2)
        #expect(
            comparison(old, .make(chain, catalog: other), other).upgrades
                == [RecipeUpgrade(pixels: "text's pixels (rendering version 1 → 2)")])
    }

    @Test func `words of a text are compared as the manifest has them, with the names of the picture`() {
        func recipe(_ words: String) -> Recipe {
            let template = TextTemplate([.literal(words), .exif(.iso)])
            return .make([FilterInvocation(filter: "text", values: ["text": .template(template)])])
        }
        #expect(
            comparison(recipe("cat "), recipe("dog "), .make()).changes
                == ["text cat {exif.iso} → dog {exif.iso}"])
    }

    @Test func `the versions of filters are not compared in another chain`() {
        let newer = Catalog.make(gaussian: 2)
        let change = comparison(.make(), .make(Self.blurs, catalog: newer), newer)
        #expect(change.changes == ["filters gaussian → gaussian, motion"])
        #expect(change.upgrades == [])
    }

    @Test func `the versions of codecs are not part of a recipe`() {
        #expect(
            Recipe.make(catalog: .make(versions: ["rendering": "1", "libvips": "8.16"]))
                == .make(catalog: .make(versions: ["rendering": "1", "libvips": "8.17"])))
    }

    @Test func `all pages of a file are made alike`() {
        #expect(Recipe.make(pages: .page(3)) == .make(pages: .page(0)))
        #expect(Recipe.make(pages: .page(3)) != .make(pages: .first))
    }

    @Test func `a recipe's text is stable and can be read back`() {
        let recipe = Recipe.make(
            Self.blurs + [
                FilterInvocation(filter: "crop", values: ["b": .integer(1), "a": .word("ä\n"), "c": .boolean(true)])
            ],
            save: SaveOptions(values: ["quality": .integer(70), "lossless": .boolean(false)]))
        let text = recipe.text
        for _ in 0..<20 { #expect(Recipe(text: text)?.text == text) }
        #expect(Recipe(text: text) == recipe)
        #expect(!text.contains("\n"))
    }

    @Test(arguments: ["", "{}", "[]", #"{"steps":[]}"#, "\u{0}"])
    func `a text that another version wrote is none`(text: String) {
        #expect(Recipe(text: text) == nil)
    }

    @Test(arguments: [
        (ParameterValue.number(12), "12"), (.number(0.25), "0.25"), (.number(-3), "-3"), (.number(1e300), "1e+300"),
        (.pair(x: 12, y: 3.5), "{x: 12, y: 3.5}"), (.integer(7), "7"), (.boolean(true), "true"),
        (.word("continuous"), "continuous"), (.text("a b"), "a b"), (.length(.percent(12.5)), "12.5%"),
        (.length(.pixels(8)), "8"),
        (
            .region(Region(x: .percent(10), y: .pixels(0), width: .pixels(200), height: .percent(50))),
            "{x: 10%, y: 0, width: 200, height: 50%, corner_radius: 0}"
        ),
        (.color(red: 255, green: 0, blue: 16, alpha: 9), "#ff001009"),
    ])
    func `a value is shown as in a manifest`(value: ParameterValue, words: String) {
        #expect(value.words == words)
    }
}

/// Recipes as a person would write them.
@Suite struct RecipeManifestTests {
    private static let picture = PictureReference(path: "/srv/a b/logo.png", digest: nil)

    @Test func `a recipe has the filters, the output, and nothing that a manifest may leave out`() {
        let recipe = Recipe.make(
            [.gaussian(12), .motion(40)], color: .srgb,
            save: SaveOptions(metadata: .strip, values: ["quality": .integer(90)]))
        #expect(
            recipe.manifest(output: "/srv/web/a.webp", catalog: .make()) == """
                filters:
                  - gaussian: {radius: 12}
                  - motion
                color: srgb
                output: /srv/web/a.webp
                save: {metadata: strip, precision: input, quality: 90}

                """)
    }

    @Test func `a save option that is a fallback is left out, and with it the whole entry`() {
        let recipe = Recipe.make(save: SaveOptions(values: ["quality": .integer(82)]))
        #expect(recipe.manifest(output: nil, catalog: .make()) == "filters:\n  - gaussian: {radius: 12}\n")
    }

    @Test func `the colours of an output are written with what is not usual`() {
        func save(_ color: OutputColor) -> String {
            Recipe.make(save: SaveOptions(color: color)).manifest(output: nil, catalog: .make())
        }
        let filters = "filters:\n  - gaussian: {radius: 12}\n"
        #expect(save(OutputColor(.named(.p3))) == filters + "save: {color: p3}\n")
        let profile = OutputColor.Space.profile(PictureReference(path: "/inks/a.icc", digest: "1"))
        #expect(
            save(OutputColor(profile, intent: .perceptual, blackPoint: false))
                == filters + "save: {color: /inks/a.icc, intent: perceptual, black_point: false}\n")
        #expect(
            save(OutputColor(profile, intent: .absolute, blackPoint: false))
                == filters + "save: {color: /inks/a.icc, intent: absolute}\n")
    }

    @Test func `values of unknown filters are all written, sorted by their names`() {
        let step = FilterInvocation(filter: "x", values: ["b": .integer(2), "a": .boolean(true)])
        #expect(Recipe.make([step]).manifest(output: nil, catalog: .make()) == "filters:\n  - x: {a: true, b: 2}\n")
    }

    @Test func `keys have no quotes`() {
        let step = FilterInvocation(filter: "overlay", values: ["x": .integer(1), "y": .integer(2)])
        #expect(Recipe.make([step]).manifest(output: nil, catalog: .make()) == "filters:\n  - overlay: {x: 1, y: 2}\n")
    }

    @Test(arguments: [
        (ParameterValue.word("clamp"), "clamp"), (.word("on"), #""on""#), (.text("12"), #""12""#),
        (.text("a: {b}"), #""a: {b}""#), (.text("say \"hi\"\n"), #""say \"hi\"\u000a""#),
        (.text("\u{202e}x"), #""\u202ex""#), (.text("\u{e0001}"), "\"\u{e0001}\""), (.text("größe"), #""größe""#),
        (.color(red: 255, green: 0, blue: 8, alpha: 255), "\"#ff0008\""),
        (.color(red: 255, green: 0, blue: 8, alpha: 16), "\"#ff000810\""),
        (.length(.percent(12.5)), "12.5%"), (.pair(x: 1, y: 2.5), "{x: 1, y: 2.5}"), (.size(.box(320)), "320"),
        (.picture(picture), #""/srv/a b/logo.png""#),
    ])
    func `values are written so that readers of YAML get them back`(value: ParameterValue, text: String) {
        let step = FilterInvocation(filter: "x", values: ["a": value])
        #expect(Recipe.make([step]).manifest(output: nil, catalog: .make()) == "filters:\n  - x: {a: \(text)}\n")
    }

    @Test func `an animation stands in its own place`() {
        let fade = FilterDescriptor(
            name: "crossfade", kind: .animation, summary: "Fades", renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "duration", .number(minimum: 0, maximum: 10), fallback: .number(1), summary: "Seconds")
            ])
        let known = Catalog.make()
        let catalog = Catalog(versions: known.versions, filters: known.filters + [fade], formats: known.formats)
        let step = FilterInvocation(filter: "crossfade", values: ["duration": .number(0.2)])
        #expect(
            Recipe.make([.gaussian(12), step]).manifest(output: "/o/a.webp", catalog: catalog) == """
                filters:
                  - gaussian: {radius: 12}
                animate: {crossfade: {duration: 0.2}}
                output: /o/a.webp
                save: {precision: input}

                """)
        let two = Recipe.make([step, FilterInvocation(filter: "crossfade", values: [:])])
        #expect(
            two.manifest(output: nil, catalog: catalog).hasPrefix(
                "animate:\n  - crossfade: {duration: 0.2}\n  - crossfade\n"))
    }
}
