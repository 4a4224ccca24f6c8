package import Queueing

/// The body of `POST /jobs`.
package struct SubmitRequest: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        /// A manifest on the service's machine, by its absolute path.
        case file(path: String)
        /// A manifest that comes with the request. Its relative paths start at the folder. The name is that of the file that it
        /// stands for, without its ending, and nil for the name of its job.
        case text(String, folder: String, name: String?)
    }

    package var source: Source
    /// Nil for the normal priority, or the highest one that the caller may choose if that is lower.
    package var priority: Priority?
    package var after: [Need] = []
    package var isHeld = false
    package var notBefore: WallTime?
    package var labels = Labels()
    package var options = RunOptions()

    package init(_ source: Source) { self.source = source }

    package static let mostOverrides = 256
    package static let longestName = 200
}

/// `{"manifest": "/srv/a/night.yaml", "priority": 70, "after": [{"job": 12, "on": "end"}]}`
extension SubmitRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case manifest, text, folder, name, priority, after
        case isHeld = "hold"
        case notBefore = "not_before"
        case labels
        case overrides = "set"
        case isForced = "force"
        case isStrict = "strict"
        case deadline
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.request(keyedBy: CodingKeys.self)
        source = try Source(
            in: values, file: .manifest, text: .text, folder: .folder, name: .name)
        priority = try values.optional(.priority)
        after = try values.optional(.after, as: [RequestedNeed].self)?.map(\.need) ?? []
        guard after.count <= Submission.mostNeeds else {
            throw values.fault(.after, "at most \(Submission.mostNeeds) jobs are allowed, and there are \(after.count)")
        }
        isHeld = try values.optional(.isHeld) ?? false
        notBefore = try values.optional(.notBefore)
        labels = try values.optional(.labels) ?? Labels()
        options = try RunOptions(
            overrides: values.texts(.overrides, most: Self.mostOverrides),
            isForced: values.optional(.isForced) ?? false, deadline: values.optional(.deadline))
        options.isStrict = try values.optional(.isStrict) ?? false
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch source {
        case .file(let path): try values.encode(path, forKey: .manifest)
        case .text(let text, let folder, let name):
            try values.encode(text, forKey: .text)
            try values.encode(folder, forKey: .folder)
            try values.encodeIfPresent(name, forKey: .name)
        }
        try values.encodeIfPresent(priority, forKey: .priority)
        if !after.isEmpty { try values.encode(after, forKey: .after) }
        if isHeld { try values.encode(true, forKey: .isHeld) }
        try values.encodeIfPresent(notBefore, forKey: .notBefore)
        if labels != Labels() { try values.encode(labels, forKey: .labels) }
        if !options.overrides.isEmpty { try values.encode(options.overrides, forKey: .overrides) }
        if options.isForced { try values.encode(true, forKey: .isForced) }
        if options.isStrict { try values.encode(true, forKey: .isStrict) }
        try values.encodeIfPresent(options.deadline, forKey: .deadline)
    }
}

extension SubmitRequest.Source {
    /// Reads the members of a request that say which manifest is meant.
    init<Key: CodingKey>(
        in values: KeyedDecodingContainer<Key>, file: Key, text: Key, folder: Key, name nameKey: Key
    ) throws {
        switch (values.contains(file), values.contains(text)) {
        case (true, true):
            throw BodyError(
                .refused(
                    "the request has 'manifest' and 'text'\n   = 'manifest' is the path of a file of the "
                        + "service's machine, and 'text' is a manifest itself: send one of them"))
        case (false, false):
            throw BodyError(
                .refused(
                    "the request has no manifest\n   = send the path of a file of the service's machine as "
                        + "'manifest', or a manifest as 'text' and its folder as 'folder'"))
        case (true, false):
            for key in [folder, nameKey] where values.contains(key) {
                throw values.fault(key, "it belongs to 'text', and the request has 'manifest'")
            }
            self = .file(path: try values.path(file))
        case (false, true):
            let content: String = try values.decode(String.self, forKey: text)
            let name: String? = try values.optional(nameKey)
            if let name, !Self.isName(name) {
                throw values.fault(
                    nameKey,
                    "'\(BodyError.shown(name))' is no name of a manifest's file\n   = a name has 1 to "
                        + "\(SubmitRequest.longestName) bytes, no '/', no control characters, and does not begin with '.'"
                )
            }
            self = .text(content, folder: try values.path(folder), name: name)
        }
    }

    /// The service uses it as the name of a file.
    private static func isName(_ name: String) -> Bool {
        (1...SubmitRequest.longestName).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
            && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
    }
}
