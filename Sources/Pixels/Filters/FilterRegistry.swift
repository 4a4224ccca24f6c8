package import Catalogs
package import JobModel

/// A filter that a manifest can ask for: what it is called and takes, and how to make one from values.
package struct FilterEntry: Sendable {
    package let descriptor: FilterDescriptor
    private let make: @Sendable (FilterArguments) throws -> any Filter

    package init(_ descriptor: FilterDescriptor, make: @escaping @Sendable (FilterArguments) throws -> any Filter) {
        self.descriptor = descriptor
        self.make = make
    }

    /// Throws ``FilterError`` when a value does not fit.
    package func makeFilter(
        _ values: [String: ParameterValue], pictures: PictureSource = .none
    ) throws -> any Filter {
        try make(FilterArguments(values, descriptor: descriptor, pictures: pictures))
    }

    /// The same filter inside another one, which sees its making and its calls.
    package func wrapping(
        _ wrap: @escaping @Sendable (_ make: () throws -> any Filter) throws -> any Filter
    ) -> FilterEntry {
        let make = make
        return FilterEntry(descriptor) { arguments in try wrap { try make(arguments) } }
    }
}

/// All filters of an installation, by name.
package struct FilterRegistry: Sendable {
    private let entries: [String: FilterEntry]
    private let pictures: PictureSource

    /// Of two entries with one name, the first stays.
    package init(_ entries: [FilterEntry], pictures: PictureSource = .none) {
        self.pictures = pictures
        self.entries = Dictionary(entries.map { ($0.descriptor.name, $0) }) { first, _ in first }
    }

    /// Sorted by name.
    package var descriptors: [FilterDescriptor] {
        entries.values.map(\.descriptor).sorted { $0.name < $1.name }
    }

    /// Throws ``FilterError`` when there is no such filter, or a value does not fit.
    package func makeFilter(_ invocation: FilterInvocation) throws -> any Filter {
        guard let entry = entries[invocation.filter] else {
            throw FilterError(filter: invocation.filter, problem: .unknownFilter(offered: entries.keys.sorted()))
        }
        return try entry.makeFilter(invocation.values, pictures: pictures)
    }
}
