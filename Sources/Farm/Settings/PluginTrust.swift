import Manifests

/// Decides which plugins are used.
package enum PluginTrust: String, Hashable, Sendable, CaseIterable {
    /// All plugins in the folders, as long as they match their pins.
    case any
    /// Plugins with a pin.
    case pinnedOnly = "pinned-only"
}

/// A plugin's file, and its required digest.
package struct PluginPin: Hashable, Sendable {
    /// The file's name without a folder.
    package let file: String
    /// 64 lower-case hexadecimal digits.
    package let sha256: String
}

extension PluginPin {
    /// The problem of a file name in place of a key.
    static func notAFileName(_ key: String) -> Problem {
        let file = key.hasSuffix(".so") ? key : "\(key).so"
        return .other(
            Words(
                "'plugin_pins' is a list of pins, and \(key.quoted) is no key of one",
                remedy: "write each pin as an item of its own: - {file: \(file), sha256: '…'}"))
    }

    /// The problem of a single value in place of the list.
    fileprivate static func notAList(_ found: String) -> Problem {
        .other(
            Words(
                "'plugin_pins' must be a list of pins, not \(found)",
                remedy: "write each pin as an item: - {file: libHalftone.so, sha256: '…'}"))
    }
}

extension ValueReader where Value == PluginPin {
    /// `{file, sha256}`.
    static var pin: ValueReader {
        ValueReader { node, name, log in
            let example = "{file: libHalftone.so, sha256: '…'}"
            guard var reader = MappingReader(node, of: "'\(name)'", example: example, log: log) else { return nil }
            let names = ["file", "sha256", "name", "path", "digest"]
            if let first = reader.mapping.entries.first,
                !reader.mapping.entries.contains(where: { names.contains($0.key) })
            {
                log.error(PluginPin.notAFileName(first.key), at: first.keySpan)
                return nil
            }
            let file = reader.required("file", .nonEmptyText, example: "libHalftone.so")
            let sha256 = reader.required("sha256", .sha256, example: "'…'")
            reader.finish(aliases: ["name": "file", "path": "file", "digest": "sha256"])
            guard let file, let sha256 else { return nil }
            return PluginPin(file: file.split(separator: "/").last.map(String.init) ?? file, sha256: sha256)
        }
    }
}

extension ValueReader where Value == [PluginPin] {
    /// A list of pins, or a single one.
    static var pins: ValueReader {
        ValueReader { node, name, log in
            guard case .scalar = node.content else { return list(of: .pin).read(node, for: name, log: log) }
            log.error(PluginPin.notAList(node.kindName), at: node.span)
            return nil
        }
    }

    /// `libA.so:9f…,libB.so:03…`, for an environment variable.
    static var pinsOnOneLine: ValueReader {
        .scalar("a list of pins") { text, name in
            var pins: [PluginPin] = []
            for part in text.split(separator: ",") {
                let sides = part.split(separator: ":")
                guard sides.count == 2, let digest = Digits.sha256(String(sides[1])) else {
                    return .failure(ValueError(.notADigest(name: name, text: String(part), isList: true)))
                }
                pins.append(PluginPin(file: String(sides[0]), sha256: digest))
            }
            return .success(pins)
        }
    }
}

extension ValueReader where Value == String {
    fileprivate static var sha256: ValueReader {
        .scalar("a SHA-256") { text, name in
            guard let digest = Digits.sha256(text) else {
                return .failure(ValueError(.notADigest(name: name, text: text, isList: false)))
            }
            return .success(digest)
        }
    }
}

private enum Digits {
    /// In lower case. Nil if it is not a SHA-256.
    static func sha256(_ text: String) -> String? {
        text.utf8.count == 64 && text.allSatisfy { $0.isASCII && $0.isHexDigit } ? text.lowercased() : nil
    }
}
