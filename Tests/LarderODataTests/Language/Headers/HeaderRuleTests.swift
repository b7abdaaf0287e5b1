import Testing

@testable import LarderOData

/// Headers of OData by the grammar (Protocol 4.01 §8; ABNF section 8).
@Suite("Header rules of the language", .timeLimit(.minutes(5)))
struct HeaderRuleTests {
  @Test(
    "A header is read with its value, its name in any case (Protocol 4.01 §8.1 to §8.3)",
    arguments: [
      ("AsyncResult: 200", .asyncResult(200)),
      ("asyncresult:\t503", .asyncResult(503)),
      ("Content-ID: a.b~1_2-3", .contentID("a.b~1_2-3")),
      ("Isolation: snapshot", .isolation),
      ("odata-isolation:SNAPSHOT", .isolation),
      ("OData-EntityID: https://host/Customers('caf\u{E9}')", .entityID("https://host/Customers('caf\u{E9}')")),
      ("OData-Error: {\"code\":\"x\", \"message\":\"y z\"}", .error("{\"code\":\"x\", \"message\":\"y z\"}")),
      ("OData-MaxVersion:4.01", .maxVersion(major: 4, minor: 1)),
      ("OData-Version: 4.01", .version("4.01")),
      ("odata-version: 4.0", .version("4.0")),
      (
        "Prefer: return=minimal , odata.maxpagesize=5,wait=10",
        .prefer([.return(isMinimal: true), .maxPageSize(5), .wait(seconds: 10)])
      ),
    ] as [(String, ODataHeader)])
  func headers(text: String, value: ODataHeader) throws {
    #expect(try ODataHeaderRule.header.read(text) == .header(value))
  }

  @Test(
    "A preference is read with its value (Protocol 4.01 §8.2.8.1 to §8.2.8.10)",
    arguments: [
      ("allow-entityreferences", .allowEntityReferences),
      ("ODATA.Allow-EntityReferences", .allowEntityReferences),
      (
        "callback; url=\"https://user:pw@[2001:db8::1]:80/a%20b?c#d\"",
        .callback(url: "https://user:pw@[2001:db8::1]:80/a%20b?c#d")
      ),
      ("odata.continue-on-error=FALSE", .continueOnError(false)),
      ("continue-on-error", .continueOnError(true)),
      (
        "include-annotations=\"*,-A.B.*,C.D#q\"",
        .includeAnnotations([
          ODataAnnotationPattern(namespace: nil, term: nil),
          ODataAnnotationPattern(isExcluded: true, namespace: "A.B", term: nil),
          ODataAnnotationPattern(namespace: "C", term: "D", qualifier: "q"),
        ])
      ),
      ("maxpagesize = 50", .maxPageSize(50)),
      ("omit-values=nulls", .omitValues(isDefaults: false)),
      ("omit-values=Defaults", .omitValues(isDefaults: true)),
      ("Respond-Async", .respondAsync),
      ("return=representation", .return(isMinimal: false)),
      ("odata.track-changes", .trackChanges),
      ("wait=0", .wait(seconds: 0)),
    ] as [(String, ODataPreference)])
  func preferences(text: String, value: ODataPreference) throws {
    #expect(try ODataHeaderRule.preference.read(text) == .preference(value))
    #expect(try ODataHeaderRule.prefer.read("Prefer:" + text) == .header(.prefer([value])))
  }

  @Test(
    "Invalid text is rejected at the first byte that is not allowed",
    arguments: [
      (.header, "OData-Versio: 4.0", 6), (.header, "OData-Version 4.0", 13), (.version, "OData-Version: 3.0", 15),
      (.version, "OData-Version: 4.00", 18), (.version, "Prefer: wait=1", 0), (.asyncresult, "AsyncResult: 20", 15),
      (.asyncresult, "AsyncResult: 2000", 16), (.contentID, "Content-ID: a b", 13), (.contentID, "Content-ID:", 11),
      (.isolation, "Isolation: none", 11), (.error, "OData-Error: {\"Code\":1}", 15),
      (.entityID, "OData-EntityID: a b", 17),
      (.maxVersion, "OData-MaxVersion: 4", 19), (.prefer, "Prefer: wait=1;x", 14), (.requestID, "", 0),
      (.preference, "foo=bar", 0), (.preference, "odata.wait=1", 6), (.returnPreference, "return=Minimal", 7),
      (.returnPreference, "wait=1", 0), (.waitPreference, "wait=", 5), (.waitPreference, "wait 1", 5),
      (.maxpagesizePreference, "maxpagesize=0", 12), (.maxpagesizePreference, "maxpagesize=99999999999999999999", 12),
      (.omitValuesPreference, "omit-values=empty", 12), (.continueOnErrorPreference, "continue-on-error=1", 18),
      (.respondAsyncPreference, "respond-async=true", 13), (.trackChangesPreference, "track-changess", 13),
      (.callbackPreference, "callback;url=\"no-scheme\"", 23), (.callbackPreference, "callback;url=x", 13),
      (.callbackPreference, "callback;url=\"a://b c\"", 19),
      (.includeAnnotationsPreference, "include-annotations=\"A\"", 22),
      (.includeAnnotationsPreference, "include-annotations=\"A.\"", 23), (.annotationsList, "*,", 2),
      (.annotationIdentifier, "-A.*#", 5), (.annotationIdentifier, "A.*.B", 3), (.iri, " ", 0),
      (.uri, "1a:b", 0), (.uri, "a:", 2), (.uri, "a:b%4", 5), (.uri, "a://[1::2::3]", 10), (.uri, "a://[1:2]", 8),
      (.uri, "a://[::1.2.3.256]", 15), (.uri, "a://[v.x]", 6), (.uri, "a://[::1", 8), (.uri, "a:b#c#d", 5),
    ] as [(ODataHeaderRule, String, Int)])
  func rejections(rule: ODataHeaderRule, text: String, offset: Int) {
    #expect { try rule.read(text) } throws: { ($0 as? ODataSyntaxError)?.offset == offset }
  }

  @Test(
    "Absolute URIs of every form are read completely (RFC 3986 §3)",
    arguments: [
      "a:b", "a:/", "a:/b//c", "a://", "a://h", "a://h:", "a://u@h:1/p?q/?#f/?", "mailto:x@y.z", "urn:a:b:c",
      "http://[::]", "http://[1:2:3:4:5:6:7:8]/", "http://[1:2:3:4:5:6:1.2.3.4]", "http://[::ffff:1.2.3.4]",
      "http://[1::]", "http://[v1.a:b]", "x+y-z.1:;=&",
    ])
  func uris(text: String) throws {
    #expect(try ODataHeaderRule.uri.read(text) == .text(text))
  }

  @Test("Every rule has its name in the grammar and rejects an empty text")
  func names() {
    for rule in ODataHeaderRule.allCases {
      #expect(throws: ODataSyntaxError.self) { try rule.read("") }
    }
    #expect(ODataHeaderRule(rawValue: "content-id") == .contentID)
    #expect(ODataHeaderRule(rawValue: "waitPreference") == .waitPreference)
  }
}
