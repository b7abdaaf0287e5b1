// Whole URLs (URL Conventions 4.01 §2; ABNF `odataUri`, `odataRelativeUri`).
extension SyntaxReader {
  /// Reads a URL: absolute, an absolute path, or relative to the service's root. An empty one is the root itself.
  mutating func url(serviceRoot: String? = nil) throws(ODataSyntaxError) -> ODataURL {
    if let serviceRoot, let last = endOfServiceRoot(serviceRoot) {
      index = last
      var url = try relativeURL(isRootAllowed: true)
      url.serviceRoot = serviceRoot
      return url
    }
    guard
      hasWord("http://", at: index, anyCase: true) || hasWord("https://", at: index, anyCase: true)
        || peek == UInt8(ascii: "/")
    else { return try relativeURL(isRootAllowed: true) }
    return try absoluteURL()
  }

  /// Reads `odataUri`, also without scheme and host.
  mutating func absoluteURL() throws(ODataSyntaxError) -> ODataURL {
    let start = index
    if peek != UInt8(ascii: "/") { try authority() }
    guard take(plain: UInt8(ascii: "/")) else { throw unexpected("'/'") }
    index = try startOfResource()
    let root = original(start..<index)
    var url = try relativeURL(isRootAllowed: true)
    url.serviceRoot = root
    return url
  }

  /// `odataRelativeUri`
  mutating func relativeURL(isRootAllowed: Bool = false) throws(ODataSyntaxError) -> ODataURL {
    if isRootAllowed, isAtEnd || peek == UInt8(ascii: "?") && !isEncoded(index) {
      return ODataURL(.service, options: try optionsAfterMark(.metadata))
    }
    if takeReserved("$batch") { return ODataURL(.batch, options: try optionsAfterMark(.batch, demandsOne: true)) }
    if takeReserved("$entity") { return try entityURL() }
    if takeReserved("$metadata") {
      let options = try optionsAfterMark(.metadata, demandsOne: true)
      var fragment: ODataContextFragment?
      if take(plain: UInt8(ascii: "#")) { fragment = try contextFragment() }
      return ODataURL(.metadata(fragment), options: options)
    }
    let path = try resourcePath()
    return ODataURL(.path(path), options: try optionsAfterMark(.url))
  }

  private mutating func takeReserved(_ word: StaticString) -> Bool {
    guard peek == UInt8(ascii: "$"), !isEncoded(index) else { return false }
    return take(exact: word)
  }

  /// Reads `?` and options, if there are any.
  private mutating func optionsAfterMark(
    _ place: OptionPlace, demandsOne: Bool = false
  ) throws(ODataSyntaxError) -> ODataQueryOptions {
    guard take(plain: UInt8(ascii: "?")) else { return ODataQueryOptions() }
    if isAtEnd, !demandsOne { return ODataQueryOptions() }
    return try queryOptions(place)
  }

  /// Reads `$entity`, which allows `$id` and few other options (§4.3.4).
  private mutating func entityURL() throws(ODataSyntaxError) -> ODataURL {
    var type: String?
    if take(plain: UInt8(ascii: "/")) { type = try qualifiedName("the name of an entity type").name }
    guard take(plain: UInt8(ascii: "?")) else {
      throw type == nil ? unexpected("'?$id='", "'/' and a type") : unexpected("'?$id='")
    }
    let options = try queryOptions(type == nil ? .entity : .entityCast)
    guard options.id != nil else { throw unexpected("'&$id='") }
    return ODataURL(.entity(castTo: type), options: options)
  }

  /// Returns the end of the service's root if the text begins with it.
  private func endOfServiceRoot(_ root: String) -> Int? {
    let count = root.utf8.count
    guard count > 0, text.utf8.starts(with: root.utf8) else { return nil }
    var place = index
    while place < end, offset(of: place) < count { place += 1 }
    return offset(of: place) == count ? place : nil
  }

  /// Returns the original text between two positions.
  private func original(_ range: Range<Int>) -> String {
    let start = offset(of: range.lowerBound)
    return String(decoding: text.utf8.dropFirst(start).prefix(offset(of: range.upperBound) - start), as: UTF8.self)
  }

  /// Returns where the resource path begins after the `/` of the host.
  ///
  /// The grammar does not define it. The path is assumed to begin at the first segment with parentheses or one of
  /// `$metadata`, `$batch`, `$entity`, `$all`, `$crossjoin`; after a segment that ends with `.svc`; else at the name
  /// before another segment with `$`, or before a qualified name with parentheses, which is an operation's and from V4
  /// on begins no path; else at the last name. A path that ends with `/` consists of the root alone.
  private func startOfResource() throws(ODataSyntaxError) -> Int {
    var lastName: Int?
    var start = index
    while true {
      var last = start
      var hasParenthesis = false
      while last < end, !isPlain("/", at: last), !isPlain("?", at: last), !isPlain("#", at: last) {
        if bytes[last] == UInt8(ascii: "(") { hasParenthesis = true }
        guard isPathCharacter(at: last) || hasParenthesis else { throw error(.unexpected(expected: ["'/'"]), at: last) }
        last += 1
      }
      let isLast = last >= end || !isPlain("/", at: last)
      if start == last {
        guard isLast else { throw error(.unexpected(expected: ["a segment"]), at: last) }
        return start
      }
      let isOperation = dialect != .v2 && isPlain(".", at: endOfIdentifier(at: start))
      if hasParenthesis, !isPlain("$", at: start) { return isOperation ? lastName ?? start : start }
      if isPlain("$", at: start) {
        let words: [StaticString] = ["$metadata", "$batch", "$entity", "$all", "$crossjoin"]
        if words.contains(where: { hasWord($0, at: start, anyCase: false) }) { return start }
        return lastName ?? start
      }
      if last - start > 4, hasWord(".svc", at: last - 4, anyCase: true) { return isLast ? last : last + 1 }
      if endOfIdentifier(at: start) == last { lastName = start }
      if isLast { return lastName ?? start }
      start = last + 1
    }
  }

  private func isPlain(_ character: Unicode.Scalar, at place: Int) -> Bool {
    place < end && bytes[place] == UInt8(truncatingIfNeeded: character.value) && !isEncoded(place)
  }
}
