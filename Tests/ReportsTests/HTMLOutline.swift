/// What a page is made of, read strictly: every element is closed where HTML wants it closed.
struct HTMLOutline {
    struct Problem: Error {
        let message: String
    }

    struct Element {
        let name: String
        let attributes: [String: String]
    }

    private(set) var elements: [Element] = []
    /// Of all elements but `style`, tags left out.
    private(set) var text = ""

    private static let void: Set<String> = ["meta", "link", "img", "br", "circle", "path"]

    init(_ html: String) throws {
        var open: [String] = []
        var rest = html.utf8[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            if open.last != "style" { text += String(Substring(rest[..<start])) }
            guard let end = rest[start...].firstIndex(of: UInt8(ascii: ">")) else {
                throw Problem(message: "a tag is not closed")
            }
            let tag = String(Substring(rest[rest.index(after: start)..<end]))
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("!DOCTYPE") { continue }
            if tag.hasPrefix("/") {
                guard open.popLast() == String(tag.dropFirst()) else { throw Problem(message: "</> of \(tag)") }
            } else {
                let element = try Self.element(tag)
                elements.append(element)
                if !Self.void.contains(element.name) { open.append(element.name) }
            }
        }
        guard open.isEmpty else { throw Problem(message: "open at the end: \(open)") }
        text += String(Substring(rest))
    }

    private static func element(_ tag: String) throws -> Element {
        let body = tag.hasSuffix("/") ? tag.dropLast() : tag[...]
        let name = body.prefix { $0 != " " }
        guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw Problem(message: "<\(tag)> is no element")
        }
        var attributes: [String: String] = [:]
        for match in body.dropFirst(name.count).matches(of: /\s([a-zA-Z-]+)(?:="([^"]*)")?/) {
            attributes[String(match.1)] = match.2.map(String.init) ?? ""
        }
        return Element(name: String(name), attributes: attributes)
    }

    func attributes(_ name: String) -> [String] { elements.compactMap { $0.attributes[name] } }
    func count(_ name: String) -> Int { elements.count { $0.name == name } }
}
