import Catalogs
import Foundation
import Testing

/// The form in which workers send catalogs.
@Suite struct CatalogCodingTests {
    private static let within = ParameterDescriptor("within", .regions, summary: "Limits the filter")
    private static func radius(_ most: Double) -> ParameterDescriptor {
        ParameterDescriptor("radius", .number(minimum: 0, maximum: most), fallback: .number(1), summary: "The radius")
    }

    private static func filter(_ name: String, _ parameters: [ParameterDescriptor]) -> FilterDescriptor {
        FilterDescriptor(
            name: name, kind: .area, summary: "Blurs", renderingVersion: 2, parameters: parameters,
            rules: [.belongs(parameter: "within", to: ["radius"])], refusesValues: true, measures: .angle)
    }

    private static let catalog = Catalog(
        versions: ["penumbra": "1"],
        filters: [
            filter("a", [radius(3), within]), filter("b", [within, radius(4)]), filter("c", []),
            filter("d", [within, within]),
        ],
        formats: [
            FormatDescriptor(
                name: "png", extensions: ["png"], canRead: true, canWrite: true, sampleFormats: [.u8],
                holdsAlpha: true, isLossless: true, largestSide: 100, options: [radius(5)])
        ],
        missingFormats: [MissingFormat(extensions: ["mp4"], reason: "no ffmpeg", remedy: "install it")],
        pluginProblems: ["a problem"], unpinnedPlugins: [UnpinnedPlugin(path: "/p.so", sha256: "00")],
        sandbox: SandboxReport(limitsCalls: true, files: .handedOver, missing: ["a part"]))

    private static func sent(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> Data {
        var text = try JSONSerialization.jsonObject(with: JSONEncoder().encode(catalog)) as? [String: Any] ?? [:]
        change(&text)
        return try JSONSerialization.data(withJSONObject: text)
    }

    @Test func `what is sent arrives, and each parameter is sent once`() throws {
        let bytes = try Self.sent()
        #expect(try JSONDecoder().decode(Catalog.self, from: bytes) == Self.catalog)
        #expect(String(decoding: bytes, as: UTF8.self).ranges(of: "Limits the filter").count == 1)
    }

    @Test(arguments: [-1, 3, .max]) func `a parameter that is not there is an error`(position: Int) throws {
        let bytes = try Self.sent { sent in
            var filters = sent["filters"] as? [[String: Any]] ?? []
            filters[0]["parameters"] = [0, position]
            sent["filters"] = filters
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Catalog.self, from: bytes) }
    }

    @Test func `a filter cannot ask for endless copies of a parameter`() throws {
        for (count, isTooMany) in [(99_994, false), (99_996, true)] {
            let bytes = try Self.sent { sent in
                var filters = sent["filters"] as? [[String: Any]] ?? []
                filters[2]["parameters"] = Array(repeating: 0, count: count)
                sent["filters"] = filters
            }
            let found = Result { try JSONDecoder().decode(Catalog.self, from: bytes) }
            #expect(((try? found.get()) == nil) == isTooMany)
        }
    }
}
