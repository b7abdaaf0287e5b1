extension HTTPFields {
  /// The codings of the content in the order in which they were applied, in lower case; nil for content that is not
  /// coded (RFC 9110 §8.4).
  package var contentCoding: String? {
    var names: [String] = []
    for value in values(of: .contentEncoding) {
      names += value.lowercased().split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).map(String.init)
    }
    names.removeAll { $0 == "identity" }
    return names.isEmpty ? nil : names.joined(separator: ", ")
  }
}
