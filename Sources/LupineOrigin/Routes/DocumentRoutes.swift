// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS

/// Constant documents: `/html`, `/xml`, `/json`, `/encoding/utf8`, `/image/png`, `/robots.txt`.
enum DocumentRoutes {
    static func add(to router: inout Router) {
        for (pattern, type, text) in [
            ("/html", "text/html; charset=utf-8", html), ("/xml", "application/xml", xml),
            ("/json", "application/json", json), ("/encoding/utf8", "text/html; charset=utf-8", utf8),
            ("/robots.txt", "text/plain", "User-agent: *\nDisallow: /deny\n"),
            ("/deny", "text/plain", "Robots were asked to stay out.\n"),
        ] {
            let octets = Array(text.utf8)
            router.get(pattern) { _ throws(Refusal) in try OriginResponse(200, type, octets) }
        }
        let pngOctets = Base64.decode(png.utf8) ?? []
        router.get("/image/png") { _ throws(Refusal) in try OriginResponse(200, "image/png", pngOctets) }
    }

    private static let html = """
        <!DOCTYPE html>
        <html>
        <head><title>A lupine</title></head>
        <body><h1>The bluebonnet</h1><p>It flowers in spring.</p></body>
        </html>

        """

    private static let xml = """
        <?xml version="1.0" encoding="utf-8"?>
        <slideshow title="Sample Slide Show" date="Date of publication" author="Yours Truly">
            <slide type="all"><title>Wake up to WonderWidgets!</title></slide>
            <slide type="all"><title>Overview</title><item/></slide>
        </slideshow>

        """

    private static let json = """
        {
          "slideshow": {
            "author": "Yours Truly",
            "date": "date of publication",
            "slides": [
              {"title": "Wake up to WonderWidgets!", "type": "all"},
              {"items": ["Why WonderWidgets are great", "Who buys WonderWidgets"], "title": "Overview", "type": "all"}
            ],
            "title": "Sample Slide Show"
          }
        }

        """

    private static let utf8 = """
        <h1>Unicode</h1>
        <pre>
        Latin: Zwölf Boxkämpfer jagen Viktor
        Greek: Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία
        Georgian: ვეპხის ტყაოსანი
        Mathematics: ∮ E⋅da = Q, n → ∞, ∑ f(i) = ∏ g(i)
        Beyond the first plane: 𝒜 😀
        </pre>

        """

    /// An image of 16 by 16 pixels, in base64.
    private static let png =
        "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAByElEQVR42g3Loa6GIACA0fs4fyYTmYlAMDEikZkI"
        + "BhIzEhmJQDA5Itn8Pdb19PP3kwiJlGwSI7ESLzkkpyRLiqRJhuSRLMkr+fsphEIqNoVRWIVXHIpTkRVF0RRD8SiW"
        + "4lVf0AiN1Gwao7Earzk0pyZriqZphubRLM2rv7AjduTOtmN27I7fOXbOnbxTdtrO2Hl21s67f8EhHNKxOYzDOrzj"
        + "cJyO7CiO5hiOx7Ecr/uCR3ikZ/MYj/V4z+E5PdlTPM0zPI9neV7/hYAIyMAWMAEb8IEjcAZyoARaYASewAq84QsR"
        + "EZGRLWIiNuIjR+SM5EiJtMiIPJEVeeMXEiIhE1vCJGzCJ47EmciJkmiJkXgSK/GmL1yIC3mxXZgLe+EvjovzIl+U"
        + "i3YxLp6LdfFeXyiIgixsBVOwBV84CmchF0qhFUbhKazCW75QERVZ2SqmYiu+clTOSq6USquMylNZlbd+oSM6srN1"
        + "TMd2fOfonJ3cKZ3WGZ2nszpv/8KNuJE32425sTf+5rg5b/JNuWk34+a5WTfv/YWJmMjJNjETO/GTY3JO8qRM2mRM"
        + "nsmavPMLC7GQi21hFnbhF8fiXORFWbTFWDyLtXgX/+N6sxDX++BLAAAAAElFTkSuQmCC"
}
