/// An estimate of the work for drawing an SVG, from its text.
///
/// A drawing of a few hundred bytes can take hours. Filters have work that grows with a number in the text, and references may
/// lead to elements with further references. The work is estimated from the text before anything is drawn. Work that grows
/// only with the length of the text counts almost nothing, so that large maps are accepted.
///
/// An estimate can be wrong in both directions. Therefore it refuses only clear cases, with a message that names the cause.
/// ``DrawingTime`` measures all others.
package struct SVGDrawing {
    /// The factor by which an estimate must exceed the limit. An estimate may be too high by this factor.
    private static let margin = 10.0

    /// The cause of work, in the words of the text.
    enum Part: Int, CaseIterable {
        case turbulence, morphology, convolution, otherFilters, references, layers

        var words: String {
            switch self {
            case .turbulence: "'feTurbulence'"
            case .morphology: "'feMorphology'"
            case .convolution: "'feConvolveMatrix'"
            case .otherFilters: "filters"
            case .references: "elements that are used many times over"
            case .layers: "elements with opacity, masks or clips"
            }
        }
    }

    private var elements: [Element] = []
    private var offsets: [String: Int] = [:]
    /// The pixels for one unit of the text, without the requested size: the transforms of used elements.
    private var usedScale = 1.0
    private var viewBox: (width: Double, height: Double)?

    /// - Throws: an error for contents that cannot be analysed.
    init(_ bytes: [UInt8]) throws(UnsupportedFeatureError) {
        let text = try SVGText(bytes)
        var scanner = XMLScanner(text.bytes)
        var open: [Int] = []
        var sheets: [UInt8] = []
        do {
            while let (token, range) = try scanner.next() {
                switch token {
                case .open(let name, let attributes, let isEmpty):
                    let values = Dictionary(
                        attributes.map { (Self.local($0.name), text.value($0.value)) }, uniquingKeysWith: { $1 })
                    let index = add(Element(Self.local(name), values, parent: open.last.map { elements[$0] }))
                    if let parent = open.last { elements[parent].children.append(index) }
                    if !isEmpty { open.append(index) }
                case .close:
                    _ = open.popLast()
                case .other:
                    if let last = open.last, elements[last].name == "style" { sheets += text.bytes[range] }
                }
            }
        } catch {
            throw UnsupportedFeatureError("text that is no well-formed XML")
        }
        for element in elements where element.embedsDrawing {
            throw UnsupportedFeatureError("another SVG embedded in it", remedy: "draw it to a PNG first")
        }
        try apply(SVGStyleSheet(String(decoding: sheets, as: UTF8.self)))
    }

    private static func local(_ name: String) -> String { name.split(separator: ":").last.map(String.init) ?? name }

    private mutating func add(_ element: Element) -> Int {
        let index = elements.count
        if let id = element.values["id"], offsets[id] == nil { offsets[id] = index }
        if index == 0, let box = element.values["viewBox"] {
            let numbers = box.numbers
            if numbers.count == 4, numbers[2] > 0, numbers[3] > 0 { viewBox = (numbers[2], numbers[3]) }
        }
        if element.isUse, element.scale >= 2 { usedScale = min(1e6, usedScale * element.scale) }
        elements.append(element)
        return index
    }

    private mutating func apply(_ sheet: SVGStyleSheet) throws(UnsupportedFeatureError) {
        guard !sheet.importsData else {
            throw UnsupportedFeatureError("a style sheet embedded in another", remedy: "draw it to a PNG first")
        }
        guard !sheet.rules.isEmpty else { return }
        var named: [String: [Int]] = [:]
        for (index, element) in elements.enumerated() {
            named[element.name, default: []].append(index)
            if let id = element.values["id"] { named["#\(id)", default: []].append(index) }
            for word in (element.values["class"] ?? "").split(whereSeparator: \.isWhitespace) {
                named[".\(word)", default: []].append(index)
            }
        }
        for rule in sheet.rules {
            for index in rule.subject == "*" ? Array(elements.indices) : named[rule.subject] ?? [] {
                elements[index].take(rule.declarations)
            }
        }
    }

    // MARK: Cost

    /// The cause of the work in words, if drawing clearly takes longer than `limit` seconds; else nil.
    ///
    /// - Parameter width, height: the picture's size; 0 while it is unknown, for costs that do not depend on it.
    func excess(over limit: Double, width: Int, height: Int) -> String? {
        let work = work(width: Double(width), height: Double(height))
        let seconds = work.reduce(0, +) / 1e9
        guard seconds > Self.margin * limit else { return nil }
        let worst = Part.allCases.max { work[$0.rawValue] < work[$1.rawValue] } ?? .references
        let estimate = seconds < 1e6 ? "about \(Int(seconds)) s" : "more than a week"
        return "\(estimate) of drawing, most of it for \(worst.words)"
    }

    /// The time in nanoseconds for each ``Part``.
    private func work(width: Double, height: Double) -> [Double] {
        guard !elements.isEmpty else { return Part.allCases.map { _ in 0 } }
        let scale = max(1, viewBox.map { max(width / $0.width, height / $0.height) } ?? 1) * usedScale
        let size = Size(width: width, height: height, scale: scale)
        let none = [Double](repeating: 0, count: Part.allCases.count)
        var work = elements.map { _ in none }
        var states = elements.map { _ in State.unseen }
        var stack = [0]
        while let index = stack.last {
            switch states[index] {
            case .unseen:
                states[index] = .open
                stack += following(index).map(\.index).filter { states[$0] == .unseen }
            case .open:
                states[index] = .done
                stack.removeLast()
                var sum = elements[index].own(size)
                for (next, count) in following(index) where states[next] == .done {
                    for part in sum.indices { sum[part] = min(1e18, sum[part] + count * work[next][part]) }
                }
                if elements[index].isUse { sum[Part.references.rawValue] += 0.04 * size.area }
                work[index] = sum
            case .done:
                stack.removeLast()
            }
        }
        // An element that is used once has its own size, which is mostly small. A repeatedly used element may have any size.
        let written = 0.04 * size.area * Double(elements.count(where: \.isUse))
        work[0][Part.references.rawValue] = max(0, work[0][Part.references.rawValue] - written)
        return work[0]
    }

    private enum State { case unseen, open, done }

    struct Size {
        let width: Double
        let height: Double
        let scale: Double
        var area: Double { width * height }
        /// The number of tiles in which libvips draws. Each of them processes the whole text.
        var tiles: Double { max(1, (width / 2000).rounded(.up) * (height / 2000).rounded(.up)) }
    }

    /// The elements that are drawn at the position of an element.
    private func following(_ index: Int) -> [(index: Int, count: Double)] {
        let element = elements[index]
        let children = element.children.filter { !elements[$0].isDrawnByReferenceAlone }
        return children.map { ($0, 1) }
            + element.references.compactMap { reference in
                offsets[reference.id].map { ($0, reference.count) }
            }
    }
}

extension SVGDrawing {
    struct Element {
        let name: String
        let values: [String: String]
        /// The scale of its lengths, by its own transform and the transforms around it.
        let scale: Double
        var children: [Int] = []
        private(set) var references: [(id: String, count: Double)] = []
        private var isLayer: Bool
        private let countsInParts: Bool

        init(_ name: String, _ values: [String: String], parent: Element?) {
            self.name = name
            self.values = values
            scale = min(1e6, (parent?.scale ?? 1) * (values["transform"]?.scaling ?? 1))
            countsInParts = parent?.values["primitiveUnits"] == "objectBoundingBox"
            isLayer = false
            take(SVGStyleSheet.plain(values["style"] ?? ""))
            for (name, value) in values where name != "style" { take(name, value) }
            if let target = values["href"]?.trimmed, target.hasPrefix("#") {
                references.append((String(target.dropFirst()), 1))
            }
        }

        /// Applies the declarations of a style.
        mutating func take(_ style: String) {
            for declaration in style.split(separator: ";") {
                guard let colon = declaration.firstIndex(of: ":") else { continue }
                let name = declaration[..<colon].filter { !$0.isWhitespace }
                take(name, String(declaration[declaration.index(after: colon)...]))
            }
        }

        private mutating func take(_ name: String, _ value: String) {
            // A marker is drawn at every vertex.
            let length = max(values["d"]?.utf8.count ?? 0, values["points"]?.utf8.count ?? 0)
            let count = name.hasPrefix("marker") ? Double(length / 4 + 1) : 1
            let urls = value.urls
            for id in urls { references.append((id, count)) }
            switch name {
            case "filter", "mask": isLayer = isLayer || !urls.isEmpty
            case "opacity": isLayer = isLayer || value.trimmed != "1"
            case "mix-blend-mode": isLayer = isLayer || value.trimmed != "normal"
            default: break
            }
        }

        var isUse: Bool { name == "use" || name == "feImage" }

        var embedsDrawing: Bool {
            guard let target = values["href"]?.trimmed.lowercased() else { return false }
            return target.hasPrefix("data:") && target.prefix(100).contains("svg")
        }

        var isDrawnByReferenceAlone: Bool { Self.undrawn.contains(name) }

        private static let undrawn: Set = [
            "defs", "symbol", "pattern", "mask", "clipPath", "marker", "filter", "linearGradient", "radialGradient",
        ]

        /// The time in nanoseconds for each ``Part``, without children and references. It was measured with librsvg, and
        /// rounded down.
        fileprivate func own(_ size: Size) -> [Double] {
            var work = [Double](repeating: 0, count: Part.allCases.count)
            func add(_ part: Part, _ nanoseconds: Double) { work[part.rawValue] = min(1e18, nanoseconds) }
            add(.references, 1000 * size.tiles)
            if isLayer { add(.layers, 0.6 * size.area) }
            switch name {
            case "feTurbulence":
                add(.turbulence, 50 * size.area * max(1, values["numOctaves"]?.numbers.first ?? 1))
            case "feMorphology":
                let radius = (values["radius"]?.numbers ?? [0]).map { max(0, $0) * radiusScale(size) }
                let across = min(size.width, 2 * (radius.first ?? 0) + 1)
                let down = min(size.height, 2 * (radius.last ?? 0) + 1)
                add(.morphology, 4 * size.area * across * down)
            case "feConvolveMatrix":
                let order = (values["order"]?.numbers ?? [3]).map { max(1, $0) }
                add(.convolution, 3 * size.area * (order.first ?? 3) * (order.last ?? 3))
            case "feGaussianBlur", "feDropShadow": add(.otherFilters, 15 * size.area)
            case "feDiffuseLighting", "feSpecularLighting": add(.otherFilters, 30 * size.area)
            case "feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feDisplacementMap", "feFlood",
                "feImage", "feMerge", "feOffset", "feTile":
                add(.otherFilters, size.area)
            default: break
            }
            return work
        }

        /// The pixels for one unit of a radius, which may be a fraction of the filtered object.
        private func radiusScale(_ size: Size) -> Double {
            max(size.scale * scale, countsInParts ? max(size.width, size.height) : 0)
        }
    }
}

/// The rules of a style sheet that cause work: those that refer to elements, and those that create layers.
///
/// A rule counts for every element with the tag, or else the class or the name, of its last selector. These may be more
/// elements than the rule applies to.
struct SVGStyleSheet {
    struct Rule {
        /// A tag, `.class`, `#name` or `*`.
        let subject: String
        let declarations: String
    }

    private(set) var rules: [Rule] = []
    /// Whether it imports another sheet that is embedded in it.
    let importsData: Bool

    init(_ text: String) {
        let text = Self.plain(text)
        importsData = text.contains("@import") && text.contains("data:")
        var (current, selectors) = ("", "")
        for character in text {
            switch character {
            case "{":
                selectors = current
                current = ""
            case "}":
                let makesWork = !current.urls.isEmpty || current.contains("opacity") || current.contains("mix-blend")
                if makesWork {
                    for selector in selectors.split(separator: ",") {
                        rules.append(Rule(subject: Self.subject(selector), declarations: current))
                    }
                }
                current = ""
            default:
                current.append(character)
            }
        }
    }

    private static func subject(_ selector: Substring) -> String {
        let last = selector.split { $0.isWhitespace || ">+~".contains($0) }.last ?? "*"
        let parts = last.prefix { !":[".contains($0) }
        guard let mark = parts.firstIndex(where: { ".#".contains($0) }) else {
            return parts.isEmpty ? "*" : String(parts)
        }
        let name = parts[parts.index(after: mark)...].prefix { !".#".contains($0) }
        return String(parts[mark]) + name
    }

    /// The text without comments, with escapes decoded.
    static func plain(_ text: String) -> String {
        guard text.contains("\\") || text.contains("/*") else { return text }
        var (result, rest) = ("", text[...])
        while let character = rest.first {
            if rest.hasPrefix("/*") {
                rest = rest.firstRange(of: "*/").map { rest[$0.upperBound...] } ?? ""
                continue
            }
            rest = rest.dropFirst()
            guard character == "\\" else {
                result.append(character)
                continue
            }
            let digits = rest.prefix(6).prefix { $0.isHexDigit }
            if let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) {
                result.unicodeScalars.append(scalar)
                rest = rest[digits.endIndex...]
                if rest.first?.isWhitespace == true { rest = rest.dropFirst() }
            } else if let next = rest.first {
                result.append(next)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}

extension String {
    /// The names in all `url(#name)`.
    var urls: [String] {
        guard contains("(") else { return [] }
        var (names, rest) = ([String](), self[...])
        while let start = rest.firstRange(of: "(") {
            let before = rest[..<start.lowerBound].suffix(3).lowercased()
            rest = rest[start.upperBound...]
            guard before == "url" else { continue }
            let target = rest.drop { $0.isWhitespace || "'\"".contains($0) }
            guard target.hasPrefix("#") else { continue }
            names.append(String(target.dropFirst().prefix { !$0.isWhitespace && !"'\")".contains($0) }))
        }
        return names
    }

    var numbers: [Double] {
        split { $0.isWhitespace || $0 == "," }.map { Double($0) ?? 0 }.map { $0.isFinite ? $0 : 0 }
    }

    var trimmed: String {
        let front = drop(while: \.isWhitespace)
        return String(
            front.prefix(
                (front.lastIndex { !$0.isWhitespace }).map { front.distance(from: front.startIndex, to: $0) + 1 } ?? 0))
    }

    /// The largest enlargement of a transform.
    var scaling: Double {
        var (scale, rest) = (1.0, self[...])
        while let open = rest.firstRange(of: "("), let close = rest[open.upperBound...].firstRange(of: ")") {
            let name = rest[..<open.lowerBound].drop { !$0.isLetter }
            let values = String(rest[open.upperBound..<close.lowerBound]).numbers
            if name.hasPrefix("scale") {
                scale *= values.map(\.magnitude).max() ?? 1
            } else if name.hasPrefix("matrix"), values.count == 6 {
                scale *= max(values[0].magnitude + values[1].magnitude, values[2].magnitude + values[3].magnitude)
            }
            rest = rest[close.upperBound...]
        }
        return scale.isFinite ? max(1, scale) : 1e6
    }
}
