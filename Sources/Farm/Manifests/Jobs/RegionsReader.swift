import Catalogs
import JobModel

/// Reads a region, a list of regions, or `{from: faces.json}`: a file with the regions of each picture.
struct RegionsReader {
    let pictures: PictureLookup

    /// More regions are a mistake, and would take long.
    static let most = 10_000

    var regions: ValueReader<ParameterValue> {
        ValueReader { node, name, log in
            switch node.content {
            case .sequence(let items): list(of: items, node, name, log)
            case .mapping(let mapping) where Self.isFile(mapping): file(node, name, log)
            case .scalar(let scalar):
                log.refusing(.noRegions(parameter: name, found: scalar.text.cut(to: 40).quoted), at: node.span)
            case .mapping, .unreadable:
                ValueReader<Region>.region.read(node, for: name, log: log).map(ParameterValue.region)
            }
        }
    }

    /// Whether somebody means a file: a key belongs to one, or none belongs to a region.
    private static func isFile(_ mapping: SyntaxNode.Mapping) -> Bool {
        let keys = Set(mapping.entries.map(\.key))
        return !keys.isDisjoint(with: ["from", "file", "path", "categories", "grow", "unlisted", "shape"])
            || !keys.isEmpty && keys.isDisjoint(with: ["x", "y", "width", "height", "w", "h", "left", "top"])
    }

    private func list(
        of items: [SyntaxNode], _ node: SyntaxNode, _ name: String, _ log: DiagnosticLog
    ) -> ParameterValue? {
        guard !items.isEmpty else {
            log.error(.value(.emptyList(name: name)), at: node.span)
            return nil
        }
        guard items.count <= Self.most else {
            log.error(.filter(.tooManyRegions(parameter: name, most: Self.most)), at: node.span)
            return nil
        }
        for item in items {
            if case .mapping(let mapping) = item.content, Self.isFile(mapping) {
                log.error(.filter(.regionFileInList(parameter: name)), at: item.span)
                return nil
            }
        }
        if items.allSatisfy({ $0.text != nil }) {
            return log.refusing(.noRegions(parameter: name, found: "a list of numbers"), at: node.span)
        }
        let regions = items.enumerated().map { index, item in
            ValueReader<Region>.region.read(item, for: "\(name)[\(index)]", log: log)
        }
        let present = regions.compactMap(\.self)
        guard present.count == regions.count else { return nil }
        return present.count == 1 ? .region(present[0]) : .regions(RegionSet(present))
    }

    private func file(_ node: SyntaxNode, _ name: String, _ log: DiagnosticLog) -> ParameterValue? {
        guard var reader = MappingReader(node, of: "'\(name)'", example: "{from: faces.json}", log: log) else {
            return nil
        }
        let path = reader.required("from", path, example: "faces.json")
        let categories = reader.value("categories", Self.categories, default: [])
        let grow = reader.value("grow", Self.growth, default: .pixels(0))
        let radius = reader.value("corner_radius", .boundedLength(isSize: false, from: 0), default: .pixels(0))
        let unlisted = reader.value("unlisted", .choice, default: RegionFile.Unlisted.fail)
        let shape = reader.value("shape", .choice, default: RegionFile.Shape.box)
        reader.finish(aliases: [
            "file": "from", "path": "from", "category": "categories", "padding": "grow", "outline": "shape",
            "segmentation": "shape",
        ])
        return path.map { path in
            .regionFile(
                RegionFile(
                    path: path, categories: categories, grow: grow, cornerRadius: radius, unlisted: unlisted,
                    shape: shape))
        }
    }

    private static var growth: ValueReader<Length> {
        ValueReader { node, name, log in
            if let length = ValueReader<Length>.length.read(node, for: name, log: DiagnosticLog()), length.isNegative {
                log.error(.filter(.shrunkRegions(parameter: name, text: node.text ?? "")), at: node.span)
                return nil
            }
            return ValueReader<Length>.boundedLength(isSize: false, from: 0).read(node, for: name, log: log)
        }
    }

    private static var categories: ValueReader<[String]> {
        ValueReader { node, name, log in
            if case .sequence(let items) = node.content, items.isEmpty {
                log.error(.value(.emptyList(name: name)), at: node.span)
                return nil
            }
            return ValueReader<[String]>.list(of: .nonEmptyText).read(node, for: name, log: log)
        }
    }

    /// The absolute path of the file. A path with fields means many files, which are looked for when the pictures are known.
    private var path: ValueReader<String> {
        ValueReader { node, name, log in
            guard let text = ValueReader<String>.nonEmptyText.read(node, for: name, log: log) else { return nil }
            do throws(Diagnostic) {
                let pieces = try TemplateParser.pieces(of: node, text: text)
                let fields = pieces.filter { if case .field = $0 { true } else { false } }
                guard fields.allSatisfy({ RegionFile.fields.contains($0) }) else {
                    throw Diagnostic(.filter(.fieldOfRegionFile), at: node.span)
                }
                guard !pictures.folderHasFields(beside: text) else {
                    throw Diagnostic(.filter(.fieldInFolder(parameter: name, folder: pictures.folder)), at: node.span)
                }
                let (path, trouble) = pictures.inspect(text, pictures.folder)
                if fields.isEmpty, let trouble {
                    throw Diagnostic(
                        .filter(.regionFileUnusable(path: text, whole: path, reason: trouble)), at: node.span)
                }
                return path
            } catch {
                log.add(error)
                return nil
            }
        }
    }
}

extension DiagnosticLog {
    fileprivate func refusing(_ problem: FilterProblem, at span: SourceSpan) -> ParameterValue? {
        error(.filter(problem), at: span)
        return nil
    }
}

extension Length {
    fileprivate var isNegative: Bool {
        switch self {
        case .pixels(let value), .percent(let value): value < 0
        }
    }
}

extension RegionFile {
    /// The fields that a path may have.
    static let fields: [OutputTemplate.Piece] = [.field(.dir), .field(.stem), .field(.ext)]
}

extension ValueReader where Value == Region {
    /// `{x, y, width, height, corner_radius}`. All but the last are required.
    static var region: ValueReader {
        ValueReader { node, name, log in
            let example = "{x: 10%, y: 10%, width: 50%, height: 50%}"
            guard var reader = MappingReader(node, of: "'\(name)'", example: example, log: log) else { return nil }
            let x = reader.required("x", .boundedLength(isSize: false), example: "10%")
            let y = reader.required("y", .boundedLength(isSize: false), example: "10%")
            let width = reader.required("width", .boundedLength(isSize: true), example: "50%")
            let height = reader.required("height", .boundedLength(isSize: true), example: "50%")
            let radius = reader.value("corner_radius", .boundedLength(isSize: false, from: 0), default: .pixels(0))
            reader.finish(aliases: ["w": "width", "h": "height", "radius": "corner_radius", "left": "x", "top": "y"])
            guard let x, let y, let width, let height else { return nil }
            return Region(x: x, y: y, width: width, height: height, cornerRadius: radius)
        }
    }
}
