/// A family of samples for Prometheus, in words.
package struct DescribedMetric: Hashable, Sendable, Codable {
    /// `penumbra_frames`
    package let name: String
    /// The names of its labels.
    package let labels: [String]
    /// A whole sentence.
    package let sentence: String

    package init(_ name: String, labels: [String], _ sentence: String) {
        self.name = name
        self.labels = labels
        self.sentence = sentence
    }
}
