import LarderOData
import Testing

@testable import LarderOffline

@Suite("Queries of a small shop", .timeLimit(.minutes(1)))
struct QueryURLTests {
  @Test(
    "Paths, casts and options select the entities that the standard defines (URL Conventions 4.01 §4, §5.1)",
    arguments: [
      ("Products", "[4, 5, 6, 7, 8]"),
      ("Products(20)", "[5]"), ("Products/20", "[5]"), ("Products(ID=20)", "[5]"), ("Products(21)", "[]"),
      ("Categories(1)/Products", "[4]"), ("Categories(2)/Products(30)", "[6]"), ("Categories(1)/Products(30)", "[]"),
      ("Products(10)/Category", "[1]"), ("Products(50)/Category", "[]"), ("Products(10)/Friends", "[5, 8]"),
      ("Products(10)/Friends(20)/Friends", "[4]"), ("Categories(3)/Parent/Parent/Products", "[4]"),
      ("Products/Shop.Special", "[6, 7]"), ("Products(30)/Shop.Special", "[6]"), ("Products(10)/Shop.Special", "[]"),
      ("Products(30)/Shop.Special/Best", "[7]"), ("Products/$filter(Stock gt 3)", "[7, 8]"),
      ("Products/$filter(Stock gt 3)/Shop.Special?$filter=ID eq 40", "[7]"),
      ("Orders('O1')/Items", "[10, 11]"), ("Orders('O1')/Items(2)/Product", "[8]"), ("Orders('O2')/Items", "[]"),
      ("Favourite", "[13]"), ("Favourite/Category", "[1]"), ("Favourite/Category/Products", "[4]"),
      ("$entity?$id=Products(20)", "[5]"), ("$entity/Shop.Special?$id=Products(20)", "[]"),
      ("Products?$filter=Category/Parent/Name eq 'Tools'", "[5, 6]"),
      ("Products?$filter=Home/City eq 'Bern' and Home/Shop.Abroad/Land eq 'CH'", "[5]"),
      ("Products?$filter=isof(Home,Shop.Abroad)", "[5]"), ("Products?$filter=Home ne null", "[4, 5]"),
      ("Products?$filter=Places/any(p:p/City eq 'Bern')", "[5]"),
      ("Products?$filter=Places/any(p:p/Zip eq null) or Tags/any(t:t eq 'loud')", "[5, 7]"),
      ("Products?$filter=Friends/any(f:f/Friends/any(g:g/ID eq ID))", "[4, 5]"),
      ("Products?$filter=Friends/any(f:f/Friends/any(g:g/ID eq $it/ID))", "[4, 5]"),
      ("Products?$filter=Tags/$count eq 3", "[7]"), ("Products?$filter=Friends/$count($filter=Stock gt 2) eq 1", "[4]"),
      ("Products?$filter=Shop.Special/Best eq null and isof(Shop.Special)", "[7]"),
      ("Products?$filter=cast(Shop.Special)/Discount eq 5", "[6]"),
      ("Products?$filter='loud' in Tags", "[7]"),
      ("Products?$filter=Category/Products/any(p:p/ID ne $it/ID)", "[5, 6]"),
      ("Products?$filter=$root/Favourite/Category/ID eq CategoryID", "[4]"),
      ("Products?$filter=$root/Products(10)/Stock lt Stock", "[5, 6, 7, 8]"),
      ("Orders?$filter=Note eq 'fast'", "[12]"), ("Orders?$filter=Rank gt 6.5 and Paid", "[12]"),
      ("Orders?$filter=Note eq null", "[9]"), ("Orders?$filter=Items/any(i:i/Product/Name eq 'Nail')", "[9]"),
      ("Products?$orderby=Rating,Name desc", "[5, 6, 7, 8, 4]"), ("Products?$orderby=Rating desc", "[4, 8, 7, 5, 6]"),
      ("Products?$orderby=Category/Name desc,Price", "[4, 7, 6, 5, 8]"),
      ("Products?$orderby=Friends/$count desc", "[4, 5, 6, 7, 8]"),
      ("Products?$orderby=Price desc&$top=2&$skip=1", "[5, 4]"), ("Products?$skip=3", "[7, 8]"),
      ("Products?$top=0&$count=true", "#5[]"), ("Products?$filter=Stock gt 3&$count=true&$top=1", "#2[7]"),
      ("Products?$compute=Stock add 1 as More,More add 1 as Most&$filter=Most gt 6&$orderby=More desc", "[8]"),
      ("Products/$ref", "[4, 5, 6, 7, 8]"), ("Products(10)/Friends/$ref", "[5, 8]"),
      ("Products/$count", "#5[]"), ("Products(10)/Friends/$count?$filter=Stock gt 2", "#1[]"),
      ("Products(40)/Tags/$count", "#3[]"), ("Products(40)/Tags/$count?$filter=length($this) gt 4", "#1[]"),
      ("Products?$search=Saw OR Nail", "[5, 8]"), ("Products?$search=NOT Saw", "[4, 6, 7, 8]"),
      ("Products?$search=\"Ham\" AND NOT mm", "[]"),
      // A constant is not the position of a column.
      ("Products?$orderby=(Rating le null),(ID le null) desc,Name desc", "[8, 4, 7, 5, 6]"),
      ("Orders?$filter=not (Rank ne null)", "[9]"), ("Orders?$filter=(Rank ne null) eq false", "[9]"),
      ("Products?$filter=Home eq Home and Home ne null", "[4, 5]"),
      ("Products?$filter=Home eq $root/Products(10)/Home", "[4]"),
      ("Products?$filter=Home eq {\"City\":\"Rome\",\"Zip\":7}", "[4]"),
      (
        "Products?$filter=Home eq {\"@odata.type\":\"Shop.Abroad\",\"City\":\"Bern\",\"Land\":\"CH\"}", "[5]"
      ),
      ("Products?$filter=Home ne {\"City\":\"Rome\",\"Zip\":7}", "[5, 6, 7, 8]"),
      ("Products?$filter=Places/any(p:p eq Home)", "[5]"),
      ("Products?$filter=Places/all(p:$it/Home ne p)", "[4, 6, 7, 8]"),
      ("Products?$filter=Places/any(p:p/Shop.Abroad/Land eq 'CH')", "[5]"),
      ("Products?$filter=Places/Shop.Abroad/any(p:p/City eq 'Rome')", "[]"),
      ("Products?$filter=Places/Shop.Abroad/$count eq 1", "[5]"),
      ("Products?$filter=Places/any(p:isof(p,Shop.Abroad))", "[5]"),
    ])
  func finds(_ url: String, _ expected: String) async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let encoded = url.replacing(" ", with: "%20").replacing("\"", with: "%22")
      .replacing("{", with: "%7B").replacing("}", with: "%7D")
    let result = try await rig.result(encoded)
    let sql = try rig.plan(encoded).sql
    #expect(result.description == expected, "\(sql)")
  }

  @Test(
    "Expanded entities belong to their rows (§5.1.3)",
    arguments: [
      ("Categories?$expand=Products", "[1 Products:[4], 2 Products:[5, 6], 3 Products:[7]]"),
      ("Products(10)?$expand=Category,Friends($orderby=ID desc)", "[4 Category:[1] Friends:[8, 5]]"),
      ("Products(50)?$expand=Category", "[8 Category:[]]"),
      ("Products(10)?$expand=Friends($expand=Friends)", "[4 Friends:[5 Friends:[4], 8 Friends:[]]]"),
      ("Products(10)?$expand=Friends/$ref,Category/$ref", "[4 Category:[1] Friends:[5, 8]]"),
      ("Products(10)?$expand=Friends/$count", "[4 Friends:#2[]]"),
      ("Products(10)?$expand=Friends($count=true;$top=1)", "[4 Friends:#2[5]]"),
      ("Products(10)?$expand=Friends($filter=Stock lt $it/Rating)", "[4 Friends:[5]]"),
      ("Products(10)?$expand=Category($expand=Products($filter=$it/ID eq ID))", "[4 Category:[1 Products:[4]]]"),
      ("Products(10)?$expand=Category($expand=Products($filter=$it/ID ne ID))", "[4 Category:[1 Products:[]]]"),
      ("Products?$filter=Stock lt 4&$expand=Shop.Special/Best&$skip=2", "[6 Best:[7]]"),
      ("Products?$filter=Stock lt 2&$expand=Shop.Special/Best", "[4]"),
      ("Products(10)?$expand=Friends/Shop.Special", "[4 Friends:[]]"),
      ("Categories(3)?$expand=Parent($levels=2)", "[3 Parent:[2 Parent:[1]]]"),
      ("Categories(3)?$expand=Parent($levels=1)", "[3 Parent:[2]]"),
      ("Categories(3)?$expand=Parent($levels=max;$select=Name)", "[3 Parent:[2 Parent:[1 Parent:[]]]]"),
      ("Categories(1)?$expand=*", "[1 Children:[2] Parent:[] Products:[4]]"),
      ("Orders('O1')?$expand=Items($expand=Product;$orderby=Count desc)", "[9 Items:[11 Product:[8], 10 Product:[4]]]"),
      ("$crossjoin(Categories,Orders)?$filter=Categories/ID eq 1&$expand=Orders", "[0 Orders:[9], 0 Orders:[12]]"),
      ("$crossjoin(Categories,Products)?$filter=Products/CategoryID eq Categories/ID&$count=true&$top=0", "#4[]"),
    ])
  func expands(_ url: String, _ expected: String) async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let encoded = url.replacing(" ", with: "%20")
    let result = try await rig.result(encoded)
    let explanation = try await rig.explain(encoded)
    #expect(result.description == expected, "\(explanation)")
  }

  @Test("V2's options bind to the same plans: inlinecount, links, paths in expand")
  func dialect() async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let binder = ODataBinder(model: QueryModel.shop, options: ODataBinderOptions(version: .v2))
    let tree = try ODataParser(.v2).relativeURL(
      "Products?$filter=substringof('a',Name)&$inlinecount=allpages&$top=1&$expand=Category/Parent")
    let writer = QueryWriter(plan: rig.plan, state: rig.state)
    let plan = try writer.plan(try binder.bind(tree))
    let result = try await rig.result(plan)
    #expect(result.description == "#3[4 Category:[1 Parent:[]]]")
    let links = try writer.plan(try binder.bind(ODataParser(.v2).relativeURL("Products(10)/$links/Friends")))
    #expect(try await rig.result(links).description == "[5, 8]")
  }
}
