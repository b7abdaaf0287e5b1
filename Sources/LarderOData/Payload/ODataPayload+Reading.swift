// Reads a complete payload into values.
extension ODataPayload {
  /// Reads a JSON payload of any version.
  ///
  /// With a model, values have the types that it declares; without one, numbers keep their digits and text stays text.
  /// `type` is the qualified type of the entity, of the rows, or of the value, if the caller knows it, and `version`
  /// that of the message's headers; both are used only if the payload does not contain its own.
  package init(
    json bytes: [UInt8], model: EdmModel? = nil, type: String? = nil, version: ODataVersion? = nil
  ) throws {
    var options = PayloadOptions(model: model, expectedType: type.map { EdmTypeReference($0) })
    options.dialect = version?.dialect
    self = try ODataPayload(json: bytes, options: options)
  }

  /// Reads a JSON payload with the given options.
  package init(json bytes: [UInt8], options: PayloadOptions) throws {
    let builder = PayloadBuilder()
    var reader = JSONPayloadReader(options: options)
    try reader.read(bytes, into: builder)
    try reader.finish(into: builder)
    guard let payload = builder.payload else {
      throw PayloadError(.unexpected(expected: "a payload"), offset: 0, path: "$")
    }
    self = payload
  }

  /// Reads the text of `$count`: digits, optionally with white space and a byte order mark around them.
  package init(countText bytes: [UInt8]) throws(PayloadError) {
    var text = bytes[...]
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    while let last = text.last, last <= 0x20 { text.removeLast() }
    while let first = text.first, first <= 0x20 { text.removeFirst() }
    guard let count = Int64(String(decoding: text, as: UTF8.self)), count >= 0 else {
      throw PayloadError(.unexpected(expected: "a number"), offset: text.startIndex, path: "$count")
    }
    self = .count(count)
  }
}
