/// The body of `POST /runs/{name}/verify`: `{"sample": 50}`. It may be left out.
package struct VerifyRequest: Hashable, Sendable {
    /// So many outputs, from everywhere in the run. Nil for as many as one request checks.
    package var sample: Int?

    package init(sample: Int? = nil) { self.sample = sample }
}

extension VerifyRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case sample }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.request(keyedBy: CodingKeys.self)
        sample = try values.optional(.sample)
        if let sample, sample < 1 {
            throw values.fault(.sample, "\(sample) is no number of outputs\n   = give at least 1")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(sample, forKey: .sample)
    }
}
