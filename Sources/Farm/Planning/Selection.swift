package import JobModel

extension JobPlan {
    /// Restricts a run to a part of a job.
    package struct Selection: Hashable, Sendable {
        /// Only inputs that match one of these patterns: by their path from the manifest's folder or from ``folder``,
        /// or by their name.
        /// Empty for all.
        package let only: [String]
        /// The current folder of the command line. Nil for the manifest's folder alone.
        package let folder: String?
        package let limit: Int?
        /// Only these absolute paths, and everything in these folders. Nil for all. Earlier failures of these inputs
        /// are ignored.
        package let inputs: Set<PathKey>?
        /// All inputs except these absolute paths.
        package let done: Set<PathKey>

        package init(
            only: [String] = [], from folder: String? = nil, limit: Int? = nil, inputs: Set<PathKey>? = nil,
            done: Set<PathKey> = []
        ) {
            self.folder = only.isEmpty ? nil : folder
            self.inputs = inputs
            self.done = done
            self.only = only
            self.limit = limit
        }

        /// - Parameter inputs: All inputs of the job.
        func matcher(in folder: String, among inputs: [InputFile]) -> Matcher {
            Matcher(only, folders(with: folder), all: inputs, self.inputs, done)
        }

        /// The folders that patterns may start from: the manifest's folder, and ``folder`` if it is another one.
        func folders(with manifestFolder: String) -> [String] {
            [manifestFolder] + (folder.map { PathKey($0) == PathKey(manifestFolder) ? [] : [$0] } ?? [])
        }
    }

    /// A selection's patterns, parsed once for all inputs.
    struct Matcher {
        private let patterns: [Pattern]
        private let inputs: Set<PathKey>?
        private let done: Set<PathKey>

        private struct Pattern {
            let paths: [GlobPattern]
            let name: NamePattern?

            init(_ text: String, _ folders: [String], exactly: Bool) {
                paths = folders.map { GlobPattern(text, in: $0, exactly: exactly) }
                name = text.utf8.contains(PathNames.slash) ? nil : NamePattern(text, exactly: exactly)
            }

            /// A pattern means the input with its exact bytes, or else the inputs that look the same, like
            /// ``ExcludePattern``.
            init(_ text: String, _ folders: [String], among inputs: [InputFile]) {
                let exact = Pattern(text, folders, exactly: true)
                let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
                self =
                    isASCII || inputs.contains { exact.includes($0.exactPath) }
                    ? exact : Pattern(text, folders, exactly: false)
            }

            func mayReach(_ folder: [UInt8]) -> Bool {
                name != nil || paths.contains { !$0.positions(in: folder).isEmpty || $0.matches(folder) }
            }

            func includes(_ path: [UInt8]) -> Bool {
                paths.contains { $0.matches(path) } || name?.matches(PathBytes.name(of: path)) ?? false
            }
        }

        fileprivate init(
            _ only: [String], _ folders: [String], all: [InputFile], _ inputs: Set<PathKey>?, _ done: Set<PathKey>
        ) {
            self.inputs = inputs
            self.done = done
            patterns = only.map { Pattern($0, folders, among: all) }
        }

        /// Whether a path, or a folder above it, is among the chosen ones.
        private static func names(_ chosen: Set<PathKey>, _ path: String) -> Bool {
            var path = path
            while !chosen.contains(PathKey(path)) {
                guard path != "/" else { return false }
                path = PathText.folder(of: path)
            }
            return true
        }

        /// The indices of the patterns that match none of these inputs.
        func idle(among inputs: [InputFile]) -> [Int] {
            patterns.indices.filter { position in !inputs.contains { patterns[position].includes($0.exactPath) } }
        }

        /// Whether a path that may be a folder matches, or may contain a match.
        func mayReach(_ folder: [UInt8]) -> Bool { patterns.isEmpty || patterns.contains { $0.mayReach(folder) } }

        func includes(_ input: InputFile) -> Bool {
            if let inputs, !Self.names(inputs, input.path) { return false }
            if done.contains(PathKey(input.path)) { return false }
            guard !patterns.isEmpty else { return true }
            let path = input.exactPath
            return patterns.contains { $0.includes(path) }
        }
    }
}
