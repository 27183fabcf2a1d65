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
  function draw(target) {
    fetch(address).then(function (answer) {
      if (!answer.ok) throw new Error('status ' + answer.status);
      return answer.json();
    }).then(function (found) {
      if (found.html) {
        target.innerHTML = found.html;
        return;
      }
      var list = document.createElement('ul');
      (found.policies || []).forEach(function (policy) {
        var item = document.createElement('li');
        var link = document.createElement('a');
        link.href = policy.url;
        link.textContent = policy.title;
        item.appendChild(link);
        list.appendChild(item);
      });
      target.replaceChildren(list);
    }).catch(function (error) {
      target.textContent = 'The policy could not be loaded (' + error.message + ').';
    });
  }
  // A container may stand further down in the page than the script.
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', place);
  else place();
})();
`;
}
