import LarderHTTP
import LarderOData
import LarderService
import Testing

@testable import LarderOffline

@Suite("Download: URLs, fields and links", .timeLimit(.minutes(1)))
struct PageURLTests {
  private let v4 = PageURL(query: "Orders?$filter=A eq 1", version: .v4, key: ["ID", "Line"])

  @Test("the first request of V4 contains the preferences for tracking and pages, and the count")
  func first() {
    let request = v4.request(
      PageRequest(place: .query(nil), tracksChanges: true, countsRows: true, maximumPageSize: 50))
    #expect(request.path == "Orders?$filter=A eq 1&$count=true")
    #expect(request.fields[.prefer] == "odata.track-changes,odata.maxpagesize=50")
    #expect(!request.useCache)
  }

  @Test("windows are ordered by the key, behind the query's own order")
  func windows() {
    let page = PageRequest(place: .query(.init(top: 10, skip: 9)))
    #expect(v4.request(page).path == "Orders?$filter=A eq 1&$orderby=ID,Line&$top=10&$skip=9")
    let ordered = PageURL(query: "Orders?$orderby=Name desc&$filter=B", version: .v2, key: ["ID"])
    let counted = PageRequest(place: .query(.init(top: 5, skip: 0)), countsRows: true)
    #expect(
      ordered.request(counted).path == "Orders?$orderby=Name desc,ID&$filter=B&$top=5&$inlinecount=allpages")
    #expect(
      PageURL(query: "Orders", version: .v4, key: ["ID"]).request(page).path == "Orders?$orderby=ID&$top=10&$skip=9")
  }

  @Test("the rows are counted under what restricts them")
  func count() {
    #expect(v4.count == "Orders/$count?$filter=A eq 1")
    #expect(PageURL(query: "Orders?$expand=Items", version: .v4, key: []).count == "Orders/$count")
    #expect(PageURL(query: "Orders?sap-client=1&$top=2", version: .v4, key: []).count == "Orders/$count?sap-client=1")
  }

  @Test(
    "links are followed under the service's root, and to its own host alone",
    arguments: [
      ("Orders?$skiptoken=2", "https://h/s/Orders?$skiptoken=2"),
      ("https://h/s/Orders?x", "https://h/s/Orders?x"),
      ("https://h/other/Orders?x", "https://h/other/Orders?x"),
      ("/s/Orders?x", "https://h/s/Orders?x"),
      ("?$skiptoken=2", "https://h/s/Orders?$skiptoken=2"),
      ("http://inside:8080/s/Orders?x", "https://h/s/Orders?x"),
      ("//inside/s/Orders?x", "https://h/s/Orders?x"),
      ("https://evil/Orders", nil), ("https://h.evil/x", nil), ("", nil),
    ] as [(String, String?)])
  func links(_ link: String, _ expected: String?) {
    let rules = LinkRules(origin: "https://h", root: "https://h/s/")
    #expect(rules.resolve(link, from: "https://h/s/Orders?$top=1") == expected)
  }

  @Test(
    "options that the root was given with are added to links below it that lack them",
    arguments: [
      ("Rows?$skiptoken=2", "https://h/s/Rows?$skiptoken=2&c=1&l=EN"), ("Rows", "https://h/s/Rows?c=1&l=EN"),
      ("https://h/s/Rows?l=DE", "https://h/s/Rows?l=DE&c=1"), ("https://h/other?x", "https://h/other?x"),
    ])
  func rootOptions(_ link: String, _ expected: String) {
    let rules = LinkRules(origin: "https://h", root: "https://h/s/", query: "c=1&l=EN")
    #expect(rules.resolve(link, from: "https://h/s/Rows?c=1&l=EN") == expected)
  }
}
