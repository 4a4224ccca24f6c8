import Catalogs
import Filters
import JobModel

extension ChainCase {
    /// Zooms and spins, with short paths and long ones, and bilateral filters.
    static let sweepsAndBilateral: [ChainCase] =
        Edge.allCases.flatMap { edge in
            let values: [String: ParameterValue] = ["edge": .word(edge.rawValue)]
            return [
                ChainCase("zoom 20 % \(edge)", [.zoom(20, values)]),
                ChainCase("zoom -60 % off centre \(edge)", [.zoom(-60, values.merging(corner) { $1 })]),
                ChainCase("spin 15° linear \(edge)", [.spin(15, values.merging(["light": .word("linear")]) { $1 })]),
                ChainCase("spin 140° off centre \(edge)", [.spin(140, values.merging(corner) { $1 })]),
                ChainCase(
                    "bilateral 2.3 \(edge)",
                    [FilterInvocation(filter: "bilateral", values: values.merging(["radius": .number(2.3)]) { $1 })]),
                ChainCase(
                    "guided 3 \(edge)",
                    [FilterInvocation(filter: "guided", values: values.merging(["radius": .integer(3)]) { $1 })]),
                ChainCase(
                    "non-local means \(edge)",
                    [
                        FilterInvocation(
                            filter: "non-local-means",
                            values: values.merging(["patch": .integer(1), "search": .integer(3)]) { $1 })
                    ]),
            ]
        } + [
            ChainCase("spin 50° expand", [.spin(50, expand)]),
            ChainCase("zoom, spin of all there is", [.zoom(200), .spin(360)]),
        ]

    private static let corner: [String: ParameterValue] = ["x": .length(.percent(10)), "y": .length(.pixels(7))]
}

extension FilterInvocation {
    static func zoom(_ amount: Double, _ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        FilterInvocation(filter: "zoom", values: values.merging(["amount": .number(amount)]) { $1 })
    }

    static func spin(_ angle: Double, _ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        FilterInvocation(filter: "spin", values: values.merging(["angle": .number(angle)]) { $1 })
    }
}
