/// The names of a plugin: its filter and its type.
struct PluginNames {
    /// The filter's name in manifests.
    let filter: String
    /// The type's name: letters and digits, with a capital first.
    let type: String

    /// Nil for a name that manifests cannot contain.
    init?(_ name: String) {
        let letters = Set("abcdefghijklmnopqrstuvwxyz")
        let others = Set("0123456789-_")
        guard let first = name.first, letters.contains(first),
            name.allSatisfy({ letters.contains($0) || others.contains($0) })
        else { return nil }
        filter = name
        let words = name.split(whereSeparator: { $0 == "-" || $0 == "_" })
        let camel = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        type = Self.taken.contains(camel) ? camel + "Effect" : camel
    }

    /// Names that would hide a type of FilterKit or Swift.
    private static let taken: Set<String> = [
        "AreaFilter", "Array", "Bool", "DeterministicMath", "Double", "Error", "Filter", "FilterDescription",
        "FilterFailure", "FilterKit", "FilterValues", "Float", "Geometry", "GeometryFilter", "Halo", "Int", "Noise",
        "Parameter", "Picture", "Pixel", "PixelRect", "Plugin", "PluginAddress", "PointFilter", "Self", "Set",
        "SpreadingFilter", "String", "Tile", "TileFilter", "Type",
    ]
}

/// The files of a new plugin.
enum PluginTemplate {
    typealias File = NewFolder.File

    /// What the new filter looks at.
    enum Kind: String, CaseIterable {
        /// One pixel.
        case point
        /// A pixel and those around it.
        case area
    }

    /// - Parameters:
    ///   - sdk: the folder with Penumbra's sources.
    ///   - guide: the path of the plugin guide.
    static func swift(_ names: PluginNames, _ kind: Kind, sdk: String, guide: String) -> [File] {
        // SwiftPM names a package after its folder.
        let identity = sdk.split(separator: "/").last.map { $0.lowercased() } ?? "penumbra"
        let words = words(names, guide) + example(kind) + [("@sdk@", sdk), ("@identity@", identity)]
        return [
            File(path: "Package.swift", text: text(PackageResources.swift_package_txt, words)),
            File(
                path: "Sources/\(names.type)/\(names.type).swift",
                text: text(
                    kind == .point ? PackageResources.swift_filter_txt : PackageResources.swift_area_filter_txt, words)),
            File(
                path: "Tests/\(names.type)Tests/ContractTests.swift",
                text: text(PackageResources.swift_test_txt, words)),
            File(path: "README.md", text: text(PackageResources.swift_readme_txt, words)),
            File(path: ".gitignore", text: ".build/\nPackage.resolved\n"),
        ]
    }

    /// - Parameter penumbra: the program that `make check` runs.
    static func c(_ names: PluginNames, _ kind: Kind, penumbra: String, guide: String) -> [File] {
        let contract = "tries it against the contract of filters"
        let check = kind == .point ? contract : "compares its pixels with those of a slow twin, and \(contract)"
        let words = words(names, guide) + example(kind) + [("@penumbra@", penumbra), ("@check@", check)]
        let own: [File] =
            switch kind {
            case .point:
                [
                    File(path: "\(names.filter).c", text: text(PackageResources.c_filter_txt, words)),
                    File(path: "Makefile", text: text(PackageResources.c_makefile_txt, words)),
                ]
            case .area:
                [
                    File(path: "\(names.filter).c", text: text(PackageResources.c_area_filter_txt, words)),
                    File(path: "pixels-test.c", text: text(PackageResources.c_area_test_txt, words)),
                    File(path: "Makefile", text: text(PackageResources.c_area_makefile_txt, words)),
                ]
            }
        return own + [
            File(path: "penumbra_plugin.h", text: text(PackageResources.penumbra_plugin_h, [])),
            File(path: "README.md", text: text(PackageResources.c_readme_txt, words)),
            File(path: ".gitignore", text: kind == .point ? "*.so\n" : "*.so\n/pixels-test\n"),
        ]
    }

    /// What the README gives the filter to try it.
    private static func example(_ kind: Kind) -> [(String, String)] {
        [("@values@", kind == .point ? "{amount: 80}" : "{radius: 5}")]
    }

    private static func words(_ names: PluginNames, _ guide: String) -> [(String, String)] {
        [
            ("@Type@", names.type), ("@filter@", names.filter),
            ("@guide@", "\nWhat a filter can do, and what it keeps to: \(guide)"),
        ]
    }

    private static func text(_ bytes: [UInt8], _ words: [(String, String)]) -> String {
        words.reduce(String(decoding: bytes, as: UTF8.self)) { $0.replacing($1.0, with: $1.1) }
    }
}
