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

    /// - Parameters:
    ///   - sdk: the folder with Penumbra's sources.
    ///   - guide: the path of the plugin guide.
    static func swift(_ names: PluginNames, sdk: String, guide: String) -> [File] {
        // SwiftPM names a package after its folder.
        let identity = sdk.split(separator: "/").last.map { $0.lowercased() } ?? "penumbra"
        let words = words(names, guide) + [("@sdk@", sdk), ("@identity@", identity)]
        return [
            File(path: "Package.swift", text: text(PackageResources.swift_package_txt, words)),
            File(
                path: "Sources/\(names.type)/\(names.type).swift", text: text(PackageResources.swift_filter_txt, words)),
            File(
                path: "Tests/\(names.type)Tests/ContractTests.swift",
                text: text(PackageResources.swift_test_txt, words)),
            File(path: "README.md", text: text(PackageResources.swift_readme_txt, words)),
            File(path: ".gitignore", text: ".build/\nPackage.resolved\n"),
        ]
    }

    /// - Parameter penumbra: the program that `make check` runs.
    static func c(_ names: PluginNames, penumbra: String, guide: String) -> [File] {
        let words = words(names, guide) + [("@penumbra@", penumbra)]
        return [
            File(path: "\(names.filter).c", text: text(PackageResources.c_filter_txt, words)),
            File(path: "penumbra_plugin.h", text: text(PackageResources.penumbra_plugin_h, [])),
            File(path: "Makefile", text: text(PackageResources.c_makefile_txt, words)),
            File(path: "README.md", text: text(PackageResources.c_readme_txt, words)),
            File(path: ".gitignore", text: "*.so\n"),
        ]
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
