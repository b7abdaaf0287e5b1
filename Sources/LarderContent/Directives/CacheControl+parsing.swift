import LarderHTTP

extension CacheControl {
  /// Reads one field line. If a directive occurs twice, the first one counts (§4.2.1).
  mutating func read(_ value: String) {
    var value = value
    value.withUTF8 { bytes in
      // The scanner exists inside the closure only, and checks each index against the buffer's count.
      var scanner = unsafe DirectiveScanner(bytes)
      while let directive = scanner.next() { take(directive, &scanner) }
      if scanner.hasInvalidElement { hasInvalidElement = true }
    }
  }

  private mutating func take(_ directive: DirectiveScanner.Directive, _ scanner: inout DirectiveScanner) {
    let name = directive.name
    switch name.count {
    case 4: if scanner.isName(name, "none") { directives.insert(.noStore) }
    case 6: if scanner.isName(name, "public") { directives.insert(.isPublic) }
    case 7: parseSevenLetters(directive, &scanner)
    case 8: parseEightLetters(directive, &scanner)
    case 9:
      if scanner.isName(name, "immutable") { directives.insert(.immutable) }
      if scanner.isName(name, "min-fresh") { minFresh = minFresh ?? scanner.seconds(directive) }
      if scanner.isName(name, "max-stale") { parseMaxStale(directive, scanner) }
    case 12: if scanner.isName(name, "no-transform") { directives.insert(.noTransform) }
    case 14:
      if scanner.isName(name, "only-if-cached") { directives.insert(.onlyIfCached) }
      if scanner.isName(name, "stale-if-error") { staleIfError = staleIfError ?? scanner.seconds(directive) }
    case 15:
      if scanner.isName(name, "must-revalidate") { directives.insert(.mustRevalidate) }
      if scanner.isName(name, "must-understand") { directives.insert(.mustUnderstand) }
    case 22:
      if scanner.isName(name, "stale-while-revalidate") {
        staleWhileRevalidate = staleWhileRevalidate ?? scanner.seconds(directive)
      }
    default: break
    }
  }

  private mutating func parseSevenLetters(_ directive: DirectiveScanner.Directive, _ scanner: inout DirectiveScanner) {
    // A value that is not a number promises nothing: such a response is stale at once.
    if scanner.isName(directive.name, "max-age") { maxAge = maxAge ?? scanner.seconds(directive) ?? 0 }
    if scanner.isName(directive.name, "private") { directives.insert(.isPrivate) }
  }

  private mutating func parseEightLetters(_ directive: DirectiveScanner.Directive, _ scanner: inout DirectiveScanner) {
    if scanner.isName(directive.name, "no-store") { directives.insert(.noStore) }
    guard scanner.isName(directive.name, "no-cache") else { return }
    let names = scanner.fieldNames(directive)
    // An argument without names is treated as no argument, which is the stricter meaning.
    if names.isEmpty { directives.insert(.noCache) } else { noCacheFields += names }
  }

  private mutating func parseMaxStale(_ directive: DirectiveScanner.Directive, _ scanner: DirectiveScanner) {
    if maxStale != nil { return }
    // Without an argument, any staleness is accepted; with an argument that is not a number, none is.
    maxStale = directive.argument == nil ? CacheControl.unlimited : scanner.seconds(directive)
  }
}
