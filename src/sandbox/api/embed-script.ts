/**
 * The embed script (docs/service.md §4.8): draws a client's policy into the page that includes it, into `data-container` or
 * behind the script tag (at the end of the page, when the tag is in its head). Without `data-policy` the type follows from the page's address; what fits nothing shows the hub.
 */
export function embedScript(siteUrl: string): string {
  return `(function () {
  'use strict';
  var script = document.currentScript;
  if (!script || !script.dataset.siteKey) return;
  var slugs = ['privacy-policy', 'cookie-policy', 'terms-of-service', 'terms-and-conditions', 'imprint', 'return-policy',
    'refund-policy', 'shipping-policy', 'disclaimer', 'acceptable-use-policy', 'data-processing-agreement'];
  function detect() {
    var path = location.pathname.toLowerCase();
    for (var i = 0; i < slugs.length; i += 1) {
      if (path.indexOf(slugs[i]) !== -1) return slugs[i];
      if (path.indexOf('/' + slugs[i].split('-')[0]) !== -1) return slugs[i];
    }
    return 'hub';
  }
  var type = script.dataset.policy || detect();
  var address = ${JSON.stringify(`${siteUrl}/api/embed/policy`)} + '?siteKey=' + encodeURIComponent(script.dataset.siteKey) +
    '&type=' + encodeURIComponent(type);
  function place() {
    var target = script.dataset.container ? document.getElementById(script.dataset.container) : null;
    if (!target) {
      target = document.createElement('div');
      // What stands in the head is not shown.
      if (document.head.contains(script)) document.body.appendChild(target);
      else script.insertAdjacentElement('afterend', target);
    }
    target.setAttribute('data-service-policy', type);
    if (script.dataset.theme) target.setAttribute('data-theme', script.dataset.theme);
    draw(target);
  }
  // The text may come as JSON of several shapes, as HTML or as Markdown.
  function draw(target) {
    fetch(address).then(function (answer) {
      if (!answer.ok) throw new Error('status ' + answer.status);
      var form = answer.headers.get('content-type') || '';
      return answer.text().then(function (text) {
        if (form.indexOf('json') === -1) {
          if (form.indexOf('html') === -1) target.replaceChildren(plainText(text));
          else target.innerHTML = text;
          return;
        }
        var found = JSON.parse(text);
        var policy = found.data || found;
        if (policy.html) target.innerHTML = policy.html;
        else if (policy.content) target.replaceChildren(plainText(policy.content));
        else target.replaceChildren(listOf(Array.isArray(policy) ? policy : policy.policies || []));
      });
    }).catch(function (error) {
      target.textContent = 'The policy could not be loaded (' + error.message + ').';
    });
  }
  function listOf(policies) {
    var list = document.createElement('ul');
    policies.forEach(function (policy) {
      var item = document.createElement('li');
      item.appendChild(linkTo(policy.title, policy.url));
      list.appendChild(item);
    });
    return list;
  }
  function linkTo(title, url) {
    var link = document.createElement('a');
    link.href = url;
    link.textContent = title;
    return link;
  }
  // Line by line; of Markdown only links in lists are drawn as such.
  function plainText(text) {
    var article = document.createElement('article');
    text.split('\\n').forEach(function (line) {
      var link = /^- \\[(.*)\\]\\((https?:.*)\\)$/.exec(line);
      var paragraph = document.createElement('p');
      if (link) paragraph.appendChild(linkTo(link[1], link[2]));
      else paragraph.textContent = line;
      if (line) article.appendChild(paragraph);
    });
    return article;
  }
  // A container may stand further down in the page than the script.
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', place);
  else place();
})();
`;
}
