package import JobModel

extension JobPlan {
    /// Narrows a job down for one run.
    package struct Selection: Hashable, Sendable {
        /// Only inputs that match: by their path from the manifest's folder, or by their name.
        package let only: String?
        package let limit: Int?
        /// Only these, by their absolute paths; nil for any. What is known of their failing is of no account.
        package let inputs: Set<PathKey>?
        /// All but these, by their absolute paths.
        package let done: Set<PathKey>

        package init(
            only: String? = nil, limit: Int? = nil, inputs: Set<PathKey>? = nil, done: Set<PathKey> = []
        ) {
            self.inputs = inputs
            self.done = done
            self.only = only
            self.limit = limit
        }

        func matcher(in folder: String, exactly: Bool) -> Matcher {
            Matcher(only, folder, exactly: exactly, inputs, done)
        }
    }

    /// A selection's pattern, taken apart once for all inputs.
    struct Matcher {
        private let path: GlobPattern?
        private let name: NamePattern?
        private let inputs: Set<PathKey>?
        private let done: Set<PathKey>

        fileprivate init(
            _ only: String?, _ folder: String, exactly: Bool, _ inputs: Set<PathKey>?, _ done: Set<PathKey>
        ) {
            self.inputs = inputs
            self.done = done
            path = only.map { GlobPattern($0, in: folder, exactly: exactly) }
            name = only.flatMap { $0.utf8.contains(PathNames.slash) ? nil : NamePattern($0, exactly: exactly) }
        }

        func includes(_ input: InputFile) -> Bool {
            if let inputs, !inputs.contains(PathKey(input.path)) { return false }
            if done.contains(PathKey(input.path)) { return false }
            guard let path else { return true }
            let bytes = input.exactPath
            if path.matches(bytes) { return true }
            return name?.matches(PathBytes.name(of: bytes)) ?? false
        }
    }
}
