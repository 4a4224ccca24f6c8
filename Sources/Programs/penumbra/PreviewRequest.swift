import Catalogs
import JobModel
import Manifests

/// What `penumbra preview` was asked to show, taken from its options.
enum PreviewRequest {
    /// Why an option cannot be read.
    struct Problem: Error, Hashable {
        let message: String
    }

    /// `40%,30%` or `1200,800`: a point of the output.
    static func place(_ text: String) throws(Problem) -> (x: Length, y: Length) {
        let parts = text.filter { $0 != " " }.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let x = length(parts[0]), let y = length(parts[1]) else {
            throw Problem(message: "--at takes a point like 40%,30% or 1200,800, not '\(text)'")
        }
        return (x, y)
    }

    private static func length(_ text: Substring) -> Length? {
        let isPercent = text.hasSuffix("%")
        let digits = isPercent ? text.dropLast() : text
        guard let first = digits.first, first.isNumber,
            digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let number = Double(digits),
            number <= (isPercent ? 100 : 10_000_000)
        else { return nil }
        return isPercent ? .percent(number) : .pixels(number)
    }

    static let largestSide = 8192

    /// `800` or `800x600`: how much of the output is shown.
    static func size(_ text: String) throws(Problem) -> (width: Int, height: Int) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard let width = parts[0], let height = parts.count == 1 ? width : parts.count == 2 ? parts[1] : nil,
            (1...largestSide).contains(width), (1...largestSide).contains(height)
        else { throw Problem(message: "--size takes 1 to \(largestSide) pixels like 800 or 800x600, not '\(text)'") }
        return (width, height)
    }

    /// A parameter and the values that it takes in turn.
    struct Sweep: Hashable {
        /// `radius`, or `filters[0].gaussian.radius`.
        let name: String
        let values: [String]

        static let most = 16

        /// `radius=4,8,16`
        init(_ text: String) throws(Problem) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let values = parts.count == 2 ? parts[1].split(separator: ",").map(String.init) : []
            guard !values.isEmpty, !parts[0].isEmpty, values.count <= Self.most else {
                throw Problem(
                    message: "--sweep takes a parameter and up to \(Self.most) values like radius=4,8,16, not '\(text)'"
                )
            }
            name = parts[0]
            self.values = values
        }

        /// Where the parameter is in a manifest: `filters[1].motion.radius`.
        ///
        /// - Parameter filters: those that the job has in common, then those of each output.
        func path(
            in job: JobSpec, _ filters: [FilterMention], output: Int, _ catalog: Catalog
        ) throws(Problem) -> String {
            let parts = name.split(separator: ".").map(String.init)
            if name.contains("[") || parts.count > 2 { return name }
            let (wantedFilter, parameter) = (parts.count == 2 ? parts[0] : nil, parts.last ?? name)
            let before = job.outputs[..<output].reduce(job.chain.count) { $0 + $1.chain.count }
            let common = filters.prefix(job.chain.count).map { ($0.path, $0.invocation.filter) }
            let own = filters.dropFirst(before).prefix(job.outputs[output].chain.count)
                .map { ("outputs[\(output)].\($0.path)", $0.invocation.filter) }
            let places = (common + own).filter { _, filter in
                guard filter == wantedFilter ?? filter else { return false }
                return catalog.filter(named: filter)?.parameters.contains {
                    $0.name == parameter || $0.synonyms.contains { $0.name == parameter }
                } ?? false
            }.map { place, _ in "\(place).\(parameter)" }
            guard let place = places.first else {
                throw Problem(message: "--sweep: no filter of the job has a parameter '\(name)'")
            }
            guard places.count == 1 else {
                throw Problem(
                    message: "--sweep: several filters have a parameter '\(name)'; write one of "
                        + places.joined(separator: ", "))
            }
            return place
        }
    }
}
